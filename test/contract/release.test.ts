import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from '../../scripts/release/bom.ts'
import { releaseFiles, sumsOf } from '../../scripts/release/files.ts'
import { ROOT } from '../support/command.ts'
import { tempFolder } from '../support/temp.ts'

interface Bill {
  readonly components: {
    readonly 'bom-ref': string
    readonly name: string
    readonly licenses: object[]
    readonly hashes?: { readonly alg: string; readonly content: string }[]
  }[]
  readonly dependencies: { readonly ref: string; readonly dependsOn: string[] }[]
}

const bill = billOfMaterials(ROOT) as Bill
const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const named = (ref: string) => bill.components.find((one) => one['bom-ref'] === ref)

test('the bill of materials has every dependency in its version, with licence and hash', () => {
  for (const [name, version] of Object.entries(own.dependencies)) {
    const found = named(`pkg:npm/${name.replace('@', '%40')}@${version}`)
    expect(found, name).toBeDefined()
    expect(found?.licenses.length, name).toBeGreaterThan(0)
    expect(found?.hashes?.[0]?.content, name).toMatch(/^[0-9a-f]{128}$/)
  }
})

test('the bill of materials has Bun, the model and the font, which no lock names', () => {
  const { dependencies } = JSON.parse(
    readFileSync(join(ROOT, 'scripts/toolchain/package.json'), 'utf8'),
  )
  expect(named(`pkg:npm/bun@${dependencies.bun}`)).toBeDefined()
  expect(bill.components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['static-zh-en-767', 'Latin Modern Math (subset)']),
  )
})

test('the bill of materials has both versions of a package, and none for tests', () => {
  const versions = bill.components.filter(({ name }) => name === 'marked')
  expect(versions.length).toBe(2)
  const names = bill.components.map(({ name }) => name)
  for (const name of ['playwright-core', 'typescript', 'biome', 'sqlite-vec-darwin-arm64']) {
    expect(names).not.toContain(name)
  }
  expect(names).toContain('sqlite-vec-linux-arm64')
})

test('the bill of materials names no component that it lacks, and is the same each time', () => {
  const refs = ['moonbase', ...bill.components.map((one) => one['bom-ref'])]
  expect(new Set(refs).size).toBe(refs.length)
  const used = bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
  expect(used.filter((ref) => !refs.includes(ref))).toEqual([])
  expect(billOfMaterials(ROOT)).toEqual(bill)
})

test('a release has its notes, its bill and a Dockerfile for what is beside it', () => {
  const dockerfile = readFileSync(join(ROOT, 'scripts/deploy/Dockerfile'), 'utf8')
  const files = releaseFiles({ version: '1.2.0', notes: '- New.\n', bill: '{}\n', dockerfile })
  expect([...files.keys()]).toEqual(['NOTES.md', 'moonbase-1.2.0.cdx.json', 'Dockerfile'])
  expect(files.get('Dockerfile')).toMatch(/^ARG EXECUTABLE=moonbase-linux-x64$/m)
  expect(files.get('Dockerfile')).toContain('COPY --chmod=755 $' + '{EXECUTABLE} /usr/local/bin/')
  expect(files.get('Dockerfile')).not.toContain('dist/')
})

test('the sums of a release are of every file but their own list', async () => {
  using folder = tempFolder()
  writeFileSync(folder.file('b'), 'hello\n')
  writeFileSync(folder.file('a'), '')
  writeFileSync(folder.file('SHA256SUMS'), 'old')
  expect([...(await sumsOf(folder.path))]).toEqual([
    ['a', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['b', '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'],
  ])
})
