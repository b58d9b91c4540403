import { expect, test } from 'bun:test'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import { BODIES_BYTES_MAX } from '../core/limits/machine.ts'
import { bodiesThatFit } from './body-memory.ts'

const GB = 1024 ** 3

test.each([
  ['a very small machine can take the largest body twice', GB / 4, 2 * AGENT_BODY_BYTES_MAX],
  ['a machine gives an eighth', 4 * GB, GB / 2],
  ['a large machine gives no more than is of use', 256 * GB, BODIES_BYTES_MAX],
])('%s', (_, memory, expected) => {
  expect(bodiesThatFit(memory)).toBe(expected)
})

test('this machine has room', () => {
  expect(bodiesThatFit()).toBeGreaterThanOrEqual(2 * AGENT_BODY_BYTES_MAX)
})
