import { expect, test } from 'bun:test'
import { csvOf } from './csv.ts'

test('the usage of a week is one table, and names cannot become formulas', () => {
  const tokens = { input_tokens: 11, output_tokens: 7 }
  const sum = { input: 11, output: 7 }
  const csv = csvOf(
    {
      ...{ total: 1, key_count: 1, tokens: { today: sum, total: sum }, spent_today: [] },
      by_person: [],
      daily: [{ day: 20_513, count: 1, ...tokens }],
      by_app: [
        { app_id: 'a', calls: 1, ...tokens },
        { app_id: null, calls: 0, ...tokens },
      ],
      by_key: [
        { key_id: 'k', prefix: 'sk-mb-12', calls: 1, ...tokens },
        { key_id: 'old', prefix: 'sk-mb-34', calls: 1, ...tokens },
      ],
      by_source: [{ source: 'api', calls: 1, ...tokens }],
      by_channel: [{ channel: 'byo', ...tokens }],
    },
    {
      apps: [{ id: 'a', name: '=1+1' }],
      keys: [{ id: 'k', name: 'a "b", c', tail: '90ab' }],
    },
  )
  expect(csv.split('\r\n')).toEqual([
    '\ufeffby,id,name,calls,input_tokens,output_tokens',
    'day,2026-03-01,,1,11,7',
    "app,a,'=1+1,1,11,7",
    'app,,,0,11,7',
    'key,k,"a ""b"", c",1,11,7',
    'key,old,sk-mb-34…,1,11,7',
    'channel,byo,,,11,7',
    '',
  ])
})
