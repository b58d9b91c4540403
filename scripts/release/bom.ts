import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LICENCES, PACKAGE_NOTES } from '../manual/licences-words.ts'

/** What `bun.lock` says of one package. */
interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalPeers?: readonly string[]
  readonly os?: string | readonly string[]
}

/** `[name@version, registry, entry, hash]` by the path below node_modules, without that name. */
type Lock = Readonly<Record<string, readonly [string, string, Entry, string]>>

interface Component {
  readonly type: 'application' | 'library' | 'machine-learning-model' | 'file'
  readonly 'bom-ref': string
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly licenses: readonly object[]
  readonly purl?: string
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

/** The SPDX identifiers of the licences of what is inside; any other name is given as a name. */
const SPDX: ReadonlySet<string> = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC'],
  ...['LGPL-3.0-or-later', 'MIT', 'MIT-0', 'MPL-2.0', 'Unlicense'],
])
/** Only for the compiler, or left out of every bundle (scripts/manual/licences.ts). */
const NOT_INSIDE = (name: string) => /^@types\//.test(name) || /^(typescript|elkjs)$/.test(name)

/**
 * A CycloneDX 1.6 bill of what the executables hold: the packages of `bun.lock` that are reachable
 * from the dependencies, each with its licence and hash, Bun, the model and the font. It is the
 * same for the same inputs. Throws for a package without a licence.
 */
export function billOfMaterials(root: string): object {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lock = readLock(root)
  const product: Component = {
    ...{ type: 'application', 'bom-ref': 'moonbase', name: own.name, version: own.version },
    licenses: licencesOf(own.license),
  }
  const { components, edges } = walk(root, lock, Object.keys(own.dependencies))
  const others = [bun(root), ...carried(root)]
  const direct = Object.keys(own.dependencies).map((name) => purlOf(lock[name]?.[0] ?? name))
  const all = [...others, ...components.values()].sort((one, other) =>
    one['bom-ref'] < other['bom-ref'] ? -1 : 1,
  )
  edges.set('moonbase', [...others.map((one) => one['bom-ref']), ...direct])
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialOf(JSON.stringify([product, all])),
    version: 1,
    metadata: { component: product },
    components: all,
    dependencies: [...edges]
      .map(([ref, on]) => ({ ref, dependsOn: [...new Set(on)].sort() }))
      .sort((one, other) => (one.ref < other.ref ? -1 : 1)),
  }
}

function readLock(root: string): Lock {
  return (Bun.JSONC.parse(readFileSync(join(root, 'bun.lock'), 'utf8')) as { packages: Lock })
    .packages
}

/** The packages that `names` bring, and by whom each is needed. */
function walk(root: string, lock: Lock, names: readonly string[]) {
  const components = new Map<string, Component>()
  const edges = new Map<string, string[]>()
  const visit = (path: string) => {
    const found = lock[path]
    if (!found || components.has(path)) return
    components.set(path, componentOf(root, path, found))
    const needed = neededBy(found[2]).flatMap((name) => resolve(lock, path, name) ?? [])
    const ref = purlOf(found[0])
    const refs = needed.map((next) => purlOf(lock[next]?.[0] ?? next))
    edges.set(ref, [...(edges.get(ref) ?? []), ...refs])
    for (const next of needed) visit(next)
  }
  for (const name of names) visit(name)
  const unique = new Map([...components.values()].map((one) => [one['bom-ref'], one]))
  return { components: unique, edges }
}

function neededBy(entry: Entry): string[] {
  const peers = Object.keys(entry.peerDependencies ?? {})
  const needed = peers.filter((name) => !entry.optionalPeers?.includes(name))
  const own = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
  return [...own, ...needed].filter((name) => !NOT_INSIDE(name))
}

/** The copy of `name` that the package at `path` gets; null where it is for another system. */
function resolve(lock: Lock, path: string, name: string): string | null {
  for (let place = path; ; place = place.slice(0, Math.max(0, parentEnd(place)))) {
    const at = place === '' ? name : `${place}/${name}`
    const found = lock[at]
    if (found) return isForLinux(found[2]) ? at : null
    if (place === '') return null
  }
}

/** Where the path of the folder above ends; names with a scope hold one slash of their own. */
function parentEnd(path: string): number {
  const last = path.lastIndexOf('/')
  const before = path.lastIndexOf('/', last - 1)
  return last > 0 && path.startsWith('@', before + 1) ? before : last
}

const isForLinux = ({ os }: Entry) => os === undefined || [os].flat().includes('linux')

function componentOf(root: string, path: string, [id, , , hash]: Lock[string]): Component {
  const at = id.lastIndexOf('@')
  const [full, version] = [id.slice(0, at), id.slice(at + 1)]
  const slash = full.indexOf('/')
  const note = PACKAGE_NOTES[full]
  return {
    ...{ type: 'library', 'bom-ref': purlOf(id) },
    ...(slash > 0 ? { group: full.slice(0, slash) } : {}),
    ...{ name: full.slice(slash + 1), version, purl: purlOf(id) },
    licenses: licencesOf(licenceOf(root, path, full)),
    hashes: [{ alg: 'SHA-512', content: Buffer.from(hash.slice(7), 'base64').toString('hex') }],
    ...(note ? { properties: [{ name: 'moonbase:contains', value: note }] } : {}),
  }
}

function licenceOf(root: string, path: string, name: string): string {
  const folder = path.replaceAll(/(^|\/)((?:@[^/]+\/)?[^/]+)/g, '/node_modules/$2')
  const file = join(root, folder, 'package.json')
  // A package of another processor is not installed; it has the licence of its siblings.
  const stated = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).license : null
  const licence = stated ?? LICENCES[name] ?? sibling(root, name)
  if (typeof licence !== 'string') throw new Error(`${name} states no licence`)
  return licence
}

function sibling(root: string, name: string): string | null {
  const parent = name.replace(/-(linux|darwin|windows)-.*$/, '')
  const file = join(root, 'node_modules', parent, 'package.json')
  return parent !== name && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).license : null
}

function licencesOf(text: string): object[] {
  const names = text.split(/\s+(?:OR|AND)\s+|[()]/).filter(Boolean)
  if (!names.every((name) => SPDX.has(name))) return [{ license: { name: text } }]
  return names.length === 1 ? [{ license: { id: names[0] } }] : [{ expression: text }]
}

/** The address of a package: `pkg:npm/%40scope/name@version`. */
function purlOf(id: string): string {
  return `pkg:npm/${id.replace(/^@/, '%40')}`
}

function bun(root: string): Component {
  const pinned = readFileSync(join(root, 'scripts/toolchain/package.json'), 'utf8')
  const { bun: version } = JSON.parse(pinned).dependencies
  const purl = purlOf(`bun@${version}`)
  return {
    ...{ type: 'library', 'bom-ref': purl, name: 'bun', version, purl },
    licenses: licencesOf('MIT'),
  }
}

/** What is inside and comes from no package. */
function carried(root: string): Component[] {
  const model = JSON.parse(readFileSync(join(root, 'models/default/model.json'), 'utf8'))
  const hashOf = (path: string) => [
    { alg: 'SHA-256', content: sha256(readFileSync(join(root, path))) },
  ]
  return [
    {
      ...{ type: 'machine-learning-model', 'bom-ref': model.name, name: model.name, version: '1' },
      licenses: licencesOf('MIT'),
      hashes: hashOf('models/default/model.onnx'),
    },
    {
      ...{ type: 'file', 'bom-ref': 'lexicon', name: 'Lexicon of the model (words of jieba)' },
      version: '1',
      licenses: licencesOf('MIT'),
      hashes: hashOf('models/default/lexicon.gz'),
    },
    {
      ...{ type: 'file', 'bom-ref': 'latin-modern-math', name: 'Latin Modern Math (subset)' },
      version: '1',
      licenses: [{ license: { name: 'GUST Font License' } }],
      hashes: hashOf('web/fonts/math.woff2'),
    },
  ]
}

const sha256 = (bytes: string | Uint8Array) =>
  new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

/** A UUID (RFC 9562, version 8) made of the content, so that the same content has the same one. */
function serialOf(content: string): string {
  const hex = sha256(content)
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`
}
