/**
 * Where the executable carries the character maps of `pdfjs-dist`, by name. The build replaces this
 * module (scripts/build-executable.ts); run from source, the maps are read from the package.
 */
export const embeddedMaps: Readonly<Record<string, string>> | null = null
