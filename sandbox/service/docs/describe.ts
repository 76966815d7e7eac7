import type { AccountApp } from '../api/app.ts';
import type { SiteApp } from '../api/site.ts';

const INTRODUCTION = `A hosted deployment service: projects, servers, tests of access, managed hosting,
integrations, activity and invoices. Every account has its own address, and every path there may carry a
\`.json\` suffix. A project is named by its permalink or its identifier, and times are ISO 8601. Credentials
are an e-mail address and an API key, by HTTP Basic.`;

/** The whole interface as an OpenAPI 3.1 document, by the origin: made from the schemas that the routes use. Spec 1. */
export function describeInterface(accounts: AccountApp, site: SiteApp) {
  const info = {
    openapi: '3.1.0',
    info: { title: 'Simulated deployment service', version: '1', description: INTRODUCTION },
  };
  const own = site.getOpenAPI31Document(info);
  const document = accounts.getOpenAPI31Document({ ...info, security: [{ basic: [] }] });
  const components = {
    schemas: { ...own.components?.schemas, ...document.components?.schemas },
    securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
  };
  return (origin: string) => {
    const onSite = Object.entries(own.paths ?? {}).map(([path, item]) => [
      path,
      { ...item, servers: [{ url: origin }] },
    ]);
    return {
      ...document,
      servers: [{ url: `${origin}/{account}`, variables: { account: { default: 'acme' } } }],
      paths: { ...Object.fromEntries(onSite), ...document.paths } as NonNullable<typeof document.paths>,
      components,
    };
  };
}

export type InterfaceDocument = ReturnType<ReturnType<typeof describeInterface>>;
