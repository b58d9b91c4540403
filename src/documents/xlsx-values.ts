import type { Archive } from './archive.ts'
import { attribute, readXml } from './xml.ts'

/** How the numbers of a cell are shown. */
export type NumberStyle = 'number' | 'percent' | 'date' | 'time' | 'date and time' | 'duration'

/** Formats that every workbook has (ECMA-376-1, 18.8.30), with those of East Asian Excel. */
function builtIn(id: number): NumberStyle {
  if (id === 9 || id === 10) return 'percent'
  if (id === 22) return 'date and time'
  if (id === 46) return 'duration'
  if ((id >= 18 && id <= 21) || id === 32 || id === 33 || id === 45 || id === 47) return 'time'
  const isDate = (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)
  return isDate ? 'date' : 'number'
}

/** The style of a format code; ignores text in quotes, in brackets and after `\`. */
function styleOf(code: string): NumberStyle {
  const [positive = ''] = code.replace(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]|_./gi, '').split(';')
  const hasDate = /y|d|mmm/i.test(positive) || /^m+$/i.test(positive)
  const hasTime = /h|s/i.test(positive)
  if (/\[[hms]+\]/i.test(positive)) return 'duration'
  if (hasDate) return hasTime ? 'date and time' : 'date'
  if (hasTime) return 'time'
  return positive.includes('%') ? 'percent' : 'number'
}

/** The style of each kind of cell, by its index. */
export async function numberStylesIn(archive: Archive, part: string): Promise<NumberStyle[]> {
  const codes = new Map<number, string>()
  const styles: NumberStyle[] = []
  let isOfCells = false
  await readXml(archive, part, {
    open(name, attributes) {
      const id = Number(attribute(attributes, 'numFmtId'))
      if (name === 'numFmt') codes.set(id, attribute(attributes, 'formatCode') ?? '')
      else if (name === 'cellXfs') isOfCells = true
      else if (name === 'xf' && isOfCells) {
        const code = codes.get(id)
        styles.push(code === undefined ? builtIn(id) : styleOf(code))
      }
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false
    },
  })
  return styles
}

const DAY_MS = 24 * 60 * 60 * 1_000
/** Days from Excel's two epochs to 1970; the first counts a 29 February 1900. */
const EPOCH_DAYS = { from1900: 25_569, from1904: 24_107 }

/** A number as the cell shows it; the text itself when it is not a number. */
export function shownNumber(text: string, style: NumberStyle, is1904: boolean): string {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return text
  if (style === 'number') return shortest(value)
  if (style === 'percent') return `${Number((value * 100).toFixed(4))}%`
  if (style === 'duration') return `${Math.floor(value * 24 + 1e-9)}:${clock(value).slice(3)}`
  if (style === 'time') return clock(value)
  const days = value - (is1904 ? EPOCH_DAYS.from1904 : EPOCH_DAYS.from1900)
  const date = new Date(Math.round(days * DAY_MS))
  if (Number.isNaN(date.getTime()) || value < 0) return shortest(value)
  const day = date.toISOString().slice(0, 10)
  return style === 'date' || Number.isInteger(value) ? day : `${day} ${clock(value)}`
}

/** Drops the digits that binary fractions add: 0.1 + 0.2 is 0.3. */
const shortest = (value: number) => String(Number(value.toPrecision(15)))

/** The part of a day as hours and minutes, with seconds when there are any. */
function clock(value: number): string {
  const seconds = Math.round((value - Math.floor(value)) * 86_400)
  const parts = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
  const texts = parts.map((part) => String(part).padStart(2, '0'))
  return (seconds % 60 === 0 ? texts.slice(0, 2) : texts).join(':')
}
