import { extname } from 'node:path';
import type { World } from '../world.ts';
import { newId, secretHex } from './ids.ts';
import type { Json, SlackFile, Workspace } from './types.ts';

const TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  csv: 'text/csv',
  json: 'application/json',
};

/** The type by which Slack knows a file, from its name. */
export function filetypeOf(name: string): string {
  return extname(name).slice(1).toLowerCase() || 'binary';
}

/** A file that was announced and waits for its bytes. */
export function announceFile(
  world: World,
  workspace: Workspace,
  given: { name: string; size: number; altText?: string | undefined; user: string },
): SlackFile {
  const filetype = filetypeOf(given.name);
  const file: SlackFile = {
    id: newId('F'),
    teamId: workspace.id,
    name: given.name,
    title: given.name,
    mimetype: TYPES[filetype] ?? 'application/octet-stream',
    filetype,
    size: given.size,
    completed: false,
    uploadKey: secretHex(24),
    user: given.user,
    created: Math.floor(world.time.wall() / 1000),
    shares: [],
    ...(given.altText ? { altText: given.altText } : {}),
  };
  workspace.files.set(file.id, file);
  world.uploads.set(file.uploadKey, file);
  return file;
}

/** A file object as messages and files.info show it. */
export function fileRecord(world: World, workspace: Workspace, file: SlackFile): Json {
  const address = `${world.origin}/files-pri/${workspace.id}-${file.id}/${encodeURIComponent(file.name)}`;
  return {
    id: file.id,
    created: file.created,
    timestamp: file.created,
    name: file.name,
    title: file.title,
    mimetype: file.mimetype,
    filetype: file.filetype,
    pretty_type: file.filetype.toUpperCase(),
    user: file.user,
    user_team: workspace.id,
    size: file.size,
    mode: 'hosted',
    is_external: false,
    is_public: false,
    url_private: address,
    url_private_download: address,
    permalink: `https://${workspace.domain}.slack.com/files/${file.user}/${file.id}`,
    ...(file.altText ? { alt_txt: file.altText } : {}),
  };
}
