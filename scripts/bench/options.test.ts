import { describe, expect, test } from 'bun:test'
import { UsageError } from '../usage.ts'
import { helpText, readOptions } from './options.ts'

const TEXTS = {
  start: { about: 'how soon it starts' },
  agent: { about: 'turns' },
  growth: { about: 'how many streams', optIn: true },
}
const suites = (...names: string[]) =>
  ({ kind: 'suites', suites: names, rounds: 3, turns: 1_000_000, boxes: null }) as const

describe('readOptions', () => {
  test('the bench runs every suite except those that must be named', () => {
    expect(readOptions<string>([], TEXTS)).toEqual(suites('start', 'agent'))
  })

  test('the bench runs named suites in the order of the table, each once', () => {
    expect(readOptions<string>(['--only', 'growth, agent,agent'], TEXTS)).toEqual(
      suites('agent', 'growth'),
    )
  })

  test('the bench takes the number of rounds', () => {
    expect(readOptions(['--rounds', '12'], TEXTS)).toMatchObject({ rounds: 12 })
  })

  test('the bench takes the size of a box', () => {
    expect(readOptions(['--turns', '20000'], TEXTS)).toMatchObject({ turns: 20_000 })
  })

  test('the bench takes a folder of boxes', () => {
    expect(readOptions(['--boxes', '/tmp/boxes'], TEXTS)).toMatchObject({ boxes: '/tmp/boxes' })
  })

  test('the bench takes a folder of question sets', () => {
    expect(readOptions(['retrieval', 'sets'], TEXTS)).toEqual({ kind: 'retrieval', folder: 'sets' })
  })

  for (const args of [
    ['--only', 'agents'],
    ['--only', ''],
    ['--only'],
    ['--rounds', '0'],
    ['--turns', '10'],
    ['--rounds', '1.5'],
    ['--boxes'],
    ['--boxes', ''],
    ['--rounds', '100'],
    ['--round', '1'],
    ['retrieval'],
    ['retrieval', 'one', 'two'],
    ['agent'],
  ]) {
    test(`the bench refuses ${args.join(' ')}`, () => {
      expect(() => readOptions(args, TEXTS)).toThrow(UsageError)
    })
  }
})

test('the help of the bench explains every suite and fits a terminal', () => {
  const help = helpText(TEXTS)
  const [usual = '', named = ''] = help.split('Only by their names')
  expect(usual).toContain('\n  agent   turns\n')
  expect(usual).not.toContain('how many streams')
  expect(named).toContain('\n  growth  how many streams\n')
  for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
})
