import { joined, type Statement, sql } from '../../../storage/db.ts'

/** More words are not looked for. */
const WORDS_MAX = 8

const ASCII = /^[\x20-\x7e]*$/

/** A word as it may be written: databases ignore the case of ASCII letters only. */
function spellingsOf(word: string): string[] {
  if (ASCII.test(word)) return [word]
  const [first = '', ...rest] = word.toLowerCase()
  const all = [word, word.toLowerCase(), word.toUpperCase(), first.toUpperCase() + rest.join('')]
  return [...new Set(all)]
}

const patternOf = (text: string) => `%${text.replaceAll(/[!%_]/g, '!$&')}%`

/** The end of a condition: that the column has all words of `q`. */
export const containing = (column: 's.title' | 'd.title', q: string): Statement =>
  joined(
    ...q
      .split(/\s+/)
      .filter((word) => word !== '')
      .slice(0, WORDS_MAX)
      .map((word) => {
        const patterns = spellingsOf(word).map(patternOf)
        const any = patterns.map(() => `${column} LIKE ? ESCAPE '!'`).join(' OR ')
        return { sql: `AND (${any})`, args: patterns }
      }),
    sql``,
  )
