# syntax=docker/dockerfile:1
# The tarball is the same on every platform, so the builder's own makes it.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sandbox/package.json sandbox/
# The base image already has the pinned Node, so its package needs no install script.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack --pack-destination / && mv /deckhand-*.tgz /deckhand.tgz

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production STORE_URL=sqlite:///data/deckhand.sqlite PORT=3000
# Installs the tarball as anybody would.
RUN --mount=from=build,source=/deckhand.tgz,target=/deckhand.tgz npm install --global --no-audit --no-fund /deckhand.tgz
# Set after npm has run, so that the image has no compiled code of npm.
ENV NODE_COMPILE_CACHE=/var/cache/deckhand
WORKDIR /home/node
# Deckhand writes only here; everything else may be mounted read-only.
RUN install -d -o node -g node -m 0700 /data /var/cache/deckhand
VOLUME /data
USER node
# Compiles the code for later starts. It ends with 78, because nothing is configured yet.
RUN deckhand 2> /dev/null; test $? -eq 78
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Exec form, so that SIGTERM reaches Deckhand itself.
CMD ["deckhand"]
