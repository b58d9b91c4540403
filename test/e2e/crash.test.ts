import { expect, test } from 'bun:test'
import { crash } from '../support/crash.ts'

test('every acknowledged write is there after kill -9', async () => {
  const lifeMs = { least: 50, most: 500 }
  const { acknowledged, faults } = await crash({ rounds: 8, seed: 20_261_121, lifeMs })
  expect(faults).toEqual([])
  for (const count of Object.values(acknowledged)) expect(count).toBeGreaterThan(0)
}, 60_000)
