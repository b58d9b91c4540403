import { expect, test } from 'bun:test'
import { SETTINGS } from '../../src/config.ts'
import { RANGES } from '../../web/features/system/wrong-value.ts'

const takes = (name: string, value: number) =>
  SETTINGS[name as keyof typeof SETTINGS].safeParse(String(value)).success

test.each(Object.entries(RANGES))('the server takes %s from least to most of %j', (name, range) => {
  const [least, most] = range
  expect([least, most].map((value) => takes(name, value))).toEqual([true, true])
  expect([least / 2, most + 1].map((value) => takes(name, value))).toEqual([false, false])
})
