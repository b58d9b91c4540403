import { expect, test } from 'bun:test'
import { besidePeer, PEER } from './peer.ts'
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
