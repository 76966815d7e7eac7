/** Packages with native code, which no bundle can hold: they are installed beside it. */
export const EXTERNAL: readonly string[] = ['@resvg/resvg-js'];
