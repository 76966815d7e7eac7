/** Where the workspace serves a file's bytes. */
export function fileUrl(id: string): string {
  return `/page/files/${encodeURIComponent(id)}`;
}
