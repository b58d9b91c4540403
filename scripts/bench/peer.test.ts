import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { tempFolder } from '../../test/support/temp.ts'
import { besidePeer, findNode, PEER, tried } from './peer.ts'
import type { Row } from './report.ts'

const row: Row = {
  measure: 'start',
  unit: 'ms',
  product: [90],
  reference: { name: 'bare', values: [10] },
  target: { atMost: 150 },
  absolute: true,
}

test('a row beside the peer has its values, and a target of its own or none', () => {
  const { measure, unit, product } = row
  const beside = { measure, unit, product, reference: { name: PEER, values: [300] }, target: null }
  expect(besidePeer(row, [300])).toEqual([beside])
  expect(besidePeer(row, [300], { atMost: 1 })).toEqual([{ ...beside, target: { atMost: 1 } }])
})

test('there is no row without the peer', () => {
  expect(besidePeer(row, [])).toEqual([])
})

test('a measure that fails leaves a gap', async () => {
  expect(await tried(async () => 7, 0)()).toBe(7)
  expect(await tried<number>(() => Promise.reject(new Error('refused')), 0)()).toBe(0)
})

test('Node.js is found behind a Bun that goes by its name', () => {
  using folder = tempFolder()
  const program = (name: string, script: string) => {
    mkdirSync(folder.file(name))
    writeFileSync(folder.file(name, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }
  program('bun', 'echo 1.4.5')
  program('broken', 'echo undefined; exit 1')
  program('real', 'echo undefined')
  const path = (...names: string[]) => names.map((name) => folder.file(name)).join(delimiter)
  expect(findNode(path('none', 'bun', 'broken', 'real'))).toBe(folder.file('real', 'node'))
  expect(() => findNode(path('bun', 'broken'))).toThrow('Node.js')
})
