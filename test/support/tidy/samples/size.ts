import type { Sample } from './sample.ts'

const lines = (count: number, text = '') => `${text}\n`.repeat(count)

export const SIZE_SAMPLES: readonly Sample[] = [
  {
    rule: 'files have at most 300 lines',
    bad: { 'web/css/a.css': lines(301, 'a {}') },
    expect: ['web/css/a.css:301'],
    good: { 'src/core/a.ts': lines(300), 'web/i18n/zh.ts': lines(301) },
  },
  {
    rule: 'functions have at most 70 lines',
    bad: { 'src/core/a.ts': `\nexport const long = () => {\n${lines(69)}}` },
    expect: ['src/core/a.ts:2'],
    good: {
      'src/core/a.ts': `function short() {\n${lines(68)}}`,
      'test/a.test.ts': `describe('a', () => {\n${lines(80)}})`,
    },
  },
  {
    rule: 'lines have at most 100 columns',
    bad: { 'src/storage/migrations/0001-init.sql': `\n${'x'.repeat(101)}` },
    expect: ['src/storage/migrations/0001-init.sql:2'],
    good: { 'src/core/a.ts': `'${'𝄞'.repeat(98)}'`, 'README.md': 'x'.repeat(101) },
  },
]
