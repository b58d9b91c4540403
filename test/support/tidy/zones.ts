// Where a file stands in the order
// core < ports < features < routes of features < surface < app < composition roots.
export type Zone =
  | 'root'
  | 'core'
  | 'port'
  | 'adapter'
  | 'feature'
  | 'routes'
  | 'http'
  | 'surface'
  | 'app'
  | 'web'
  | 'outside'
  | 'unknown'

const ZONES: readonly (readonly [RegExp, Zone])[] = [
  // Composition roots: the files that may know every part and the machine below.
  [/^src\/main\.ts$/, 'root'],
  [/^src\/(commands|data-folder|wiring)\//, 'root'],
  [/^src\/core\//, 'core'],
  [/^src\/storage\/[^/]+$/, 'port'],
  [/^src\/channels\/(ports|resilience|egress|net|child)\//, 'port'],
  [/^src\/tools\//, 'port'],
  [/^src\/storage\/migrations\//, 'port'],
  [/^src\/jobs\//, 'port'],
  [/^src\/config\.ts$/, 'port'],
  [/^src\/(storage|channels)\/[^/]+\//, 'adapter'],
  [/^src\/(audio|native)\//, 'adapter'],
  [/^src\/features\/[^/]+\/(routes|[\w-]+-routes)\.ts$/, 'routes'],
  [/^src\/features\/[^/]+\//, 'feature'],
  [/^src\/surface\.ts$/, 'surface'],
  [/^src\/http\//, 'http'],
  [/^src\/app\.ts$/, 'app'],
  [/^src\//, 'unknown'],
  [/^web\//, 'web'],
]

export const zoneOf = (path: string): Zone =>
  ZONES.find(([pattern]) => pattern.test(path))?.[1] ?? 'outside'

/** The folder that belongs together: one feature, one adapter. */
export const unitOf = (path: string): string =>
  path.match(/^src\/(features|channels|storage)\/[^/]+(?=\/)|^src\/[^/]+/)?.[0] ?? path

export const isTest = (path: string) => /\.test\.tsx?$/.test(path)

/** Entry of a worker thread or child process: a program of its own, like `main.ts`. */
const isWorkerEntry = (path: string) => /(^|[-/])(worker|child)\.ts$/.test(path)

/** Files that may reach for the process, the clock, randomness and the network by name. */
export const mayTouchMachine = (path: string) =>
  ['root', 'core'].includes(zoneOf(path)) || isWorkerEntry(path) || isTest(path)
