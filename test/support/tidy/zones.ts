// The layer (zone) of each file, in the order
// core < ports < speech < features < doors < routes < surface < app < composition roots.
export type Zone =
  | 'root'
  | 'core'
  | 'port'
  | 'adapter'
  | 'speech'
  | 'feature'
  | 'door'
  | 'shared'
  | 'routes'
  | 'http'
  | 'surface'
  | 'app'
  | 'web'
  | 'outside'
  | 'unknown'

const ZONES: readonly (readonly [RegExp, Zone])[] = [
  // Composition roots may import every part, and may use the machine directly.
  [/^src\/main\.ts$/, 'root'],
  [/^src\/(commands|data-folder|wiring)\//, 'root'],
  [/^src\/core\//, 'core'],
  [/^src\/storage\/[^/]+$/, 'port'],
  [/^src\/upstream\//, 'port'],
  [/^src\/tools\//, 'port'],
  [/^src\/storage\/(migrations|before-first-release)\//, 'port'],
  [/^src\/jobs\//, 'port'],
  [/^src\/(config|setting-values)\.ts$/, 'port'],
  [/^src\/(storage|channels)\/[^/]+\//, 'adapter'],
  [/^src\/(audio|documents|native)\//, 'adapter'],
  [/^src\/speech\//, 'speech'],
  [/^src\/(features|doors)\/[^/]+\/(.+\/)?(routes|[\w-]+-routes)\.ts$/, 'routes'],
  [/^src\/doors\/shared\//, 'shared'],
  [/^src\/doors\/[^/]+\//, 'door'],
  [/^src\/features\/[^/]+\//, 'feature'],
  [/^src\/surface\.ts$/, 'surface'],
  [/^src\/http\//, 'http'],
  [/^src\/app\.ts$/, 'app'],
  [/^src\//, 'unknown'],
  [/^web\//, 'web'],
]

export const zoneOf = (path: string): Zone =>
  ZONES.find(([pattern]) => pattern.test(path))?.[1] ?? 'outside'

/** The folder of one feature or one adapter. */
export const unitOf = (path: string): string =>
  path.match(/^src\/(features|doors|channels|storage)\/[^/]+(?=\/)|^src\/[^/]+/)?.[0] ?? path

export const isTest = (path: string) => /\.test\.tsx?$/.test(path)

/** The entry point of a worker thread or child process, like `main.ts` of the main process. */
const isWorkerEntry = (path: string) => /(^|[-/])(worker|child)\.ts$/.test(path)

/** Files that may use the process, the clock, randomness and the network as globals. */
export const mayTouchMachine = (path: string) =>
  ['root', 'core'].includes(zoneOf(path)) || isWorkerEntry(path) || isTest(path)
