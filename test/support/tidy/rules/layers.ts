import { type Import, importsOf, isModule, type Rule } from '../rule.ts'
import type { Finding, SourceFile } from '../tree.ts'
import { isTest, unitOf, type Zone, zoneOf } from '../zones.ts'

/** Zones that a file may import at run time, and zones that it may import types from. */
const MAY: Partial<
  Record<Zone, { readonly run: readonly Zone[]; readonly type: readonly Zone[] }>
> = {
  core: { run: ['core'], type: [] },
  port: { run: ['core', 'port'], type: [] },
  adapter: { run: ['core', 'port'], type: [] },
  speech: { run: ['core', 'port'], type: ['feature'] },
  feature: { run: ['core', 'port', 'speech'], type: ['feature'] },
  shared: { run: ['core', 'port', 'speech', 'http'], type: ['feature', 'door'] },
  door: { run: ['core', 'port', 'speech', 'http', 'shared'], type: ['feature'] },
  routes: { run: ['core', 'port', 'http', 'shared'], type: ['speech', 'feature', 'door'] },
  http: { run: ['core', 'http'], type: [] },
  surface: { run: ['core', 'http', 'routes'], type: ['port', 'feature'] },
  app: { run: ['core', 'port', 'http', 'surface', 'routes'], type: ['feature', 'door', 'shared'] },
}

const MEND: Partial<Record<Zone, string>> = {
  adapter: 'only composition roots and test/ know adapters; take the port as an argument',
  feature: 'take the other feature as an argument and write `import type`',
  door: 'a feature does not know who calls it; only app.ts and composition roots import a door',
  root: 'nothing imports a composition root; pass what is needed down as an argument',
  app: 'only composition roots and test/ import the app',
  surface: 'only app.ts mounts the surface',
  routes: 'routes are mounted by surface.ts and app.ts alone',
  http: 'only routes, http/ and app.ts know the transport',
  web: 'only composition roots import the console',
  outside: 'src/ does not depend on test/ or scripts/',
}

function checkImport(module: SourceFile, item: Import): Finding[] {
  if (!item.target) return []
  const [from, to] = [zoneOf(module.path), zoneOf(item.target)]
  const may = MAY[from]
  if (!may || to === 'unknown') return []
  const own = unitOf(module.path) === unitOf(item.target)
  if (own && (from === to || (from === 'routes' && (to === 'feature' || to === 'door')))) return []
  if (may.run.includes(to) || (item.typeOnly && may.type.includes(to))) return []
  const mend = MEND[to] ?? `${from} may import ${may.run.join(', ')}; move the code or pass it in`
  return [
    { line: item.line, path: module.path, message: `imports ${item.target} (${to}): ${mend}` },
  ]
}

/** A test beside a module may import its own folder, the ports and the core. */
function checkTestImport(module: SourceFile, item: Import): Finding[] {
  if (!item.target || item.typeOnly || unitOf(module.path) === unitOf(item.target)) return []
  if (!['adapter', 'feature', 'routes', 'http', 'app'].includes(zoneOf(item.target))) return []
  const message = `imports ${item.target}: a test of two folders belongs below test/`
  return [{ path: module.path, line: item.line, message }]
}

const moduleRule = (name: string, check: (module: SourceFile) => Finding[]): Rule => ({
  name,
  check: (files) => files.filter(({ path }) => isModule(path)).flatMap(check),
})

export const layerRules: readonly Rule[] = [
  // The bundler of the executable breaks such an import, which works from source.
  moduleRule('no file imports itself', (module) =>
    importsOf(module)
      .filter(({ target }) => target === module.path)
      .map(({ line }) => ({ path: module.path, line, message: 'call what is below directly' })),
  ),
  moduleRule('every file of src/ has a layer', ({ path }) =>
    zoneOf(path) === 'unknown' && !isTest(path) && !path.endsWith('.d.ts')
      ? [{ path, line: 1, message: 'has no layer: move it, or add its folder to tidy/zones.ts' }]
      : [],
  ),
  moduleRule('layers import downwards only', (module) =>
    isTest(module.path) ? [] : importsOf(module).flatMap((item) => checkImport(module, item)),
  ),
  moduleRule('a test beside a module stays in its folder', (module) =>
    isTest(module.path) && module.path.startsWith('src/')
      ? importsOf(module).flatMap((item) => checkTestImport(module, item))
      : [],
  ),
]
