/**
 * Paths of the character maps of `pdfjs-dist` inside the executable, by name. The build replaces
 * this module (scripts/build-executable.ts); when run from source, the maps are read from the
 * package.
 */
export const embeddedMaps: Readonly<Record<string, string>> | null = null
