import { lazy } from '../../core/lazy.ts'

/** Zones, and cities of them: those that give none its name, and some as Chinese calls them. */
const CITIES: readonly (readonly [zone: string, names: string])[] = [
  ['Asia/Shanghai', 'beijing,shenzhen,北京,上海,深圳,广州'],
  ['Asia/Hong_Kong', '香港'],
  ['Asia/Taipei', '台北'],
  ['Asia/Tokyo', 'osaka,东京,大阪'],
  ['Asia/Seoul', '首尔'],
  ['Asia/Singapore', '新加坡'],
  ['Asia/Bangkok', '曼谷'],
  ['Asia/Dubai', '迪拜'],
  ['Asia/Kolkata', 'delhi,mumbai,bangalore,孟买,新德里'],
  ['Europe/Moscow', '莫斯科'],
  ['Europe/London', '伦敦'],
  ['Europe/Paris', '巴黎'],
  ['Europe/Berlin', 'munich,frankfurt,hamburg,柏林,慕尼黑'],
  ['Europe/Zurich', 'geneva'],
  ['Europe/Rome', 'milan,罗马,米兰'],
  ['Europe/Madrid', 'barcelona,马德里'],
  ['America/New_York', 'boston,washington,纽约,华盛顿'],
  ['America/Chicago', '芝加哥'],
  ['America/Toronto', '多伦多'],
  ['America/Los_Angeles', 'san francisco,seattle,洛杉矶,旧金山'],
  ['Australia/Sydney', '悉尼'],
]
const ZONES_OF_CITIES = new Map(
  CITIES.flatMap(([zone, names]) => names.split(',').map((name) => [name, zone] as const)),
)

const NAME = /\b(?:UTC|[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+)\b/
const CHINESE = new RegExp(
  [...ZONES_OF_CITIES.keys()].filter((name) => /\p{Script=Han}/u.test(name)).join('|'),
)
/** Where English names a place: “time in Tokyo”, “the current Tokyo time”. */
const BEHIND = /\b(?:in|at|for)\s+([\p{L}\s.-]+)/giu
const BEFORE = /([\p{L}\s.-]+?)(?:['’]s)?\s+time\b/giu
/** Words of the longest name of a city. */
const WORDS_MAX = 4

/** Zones by the city in their names, in lower case. */
const cityZones = lazy(
  (): ReadonlyMap<string, string> =>
    new Map([
      ...Intl.supportedValuesOf('timeZone').map(
        (zone) => [zone.replace(/^.*\//, '').replaceAll('_', ' ').toLowerCase(), zone] as const,
      ),
      ...ZONES_OF_CITIES,
    ]),
)

/** The zone of the longest city that these words begin with, or end with. */
function zoneOfWords(text: string, from: 'start' | 'end'): string | undefined {
  const words = text.toLowerCase().replaceAll('.', '').trim().split(/\s+/)
  for (let count = Math.min(words.length, WORDS_MAX); count > 0; count--) {
    const some = from === 'start' ? words.slice(0, count) : words.slice(-count)
    const zone = cityZones().get(some.join(' '))
    if (zone !== undefined) return zone
  }
  return
}

/**
 * The time zone that a text names, as it is called or by a city in it; undefined for none. Blanks
 * are joined first: many in a row would be tried in all ways, for a fifth of a second.
 */
export function zoneIn(said: string): string | undefined {
  const text = said.replace(/\s+/g, ' ')
  const named = NAME.exec(text)?.[0] ?? ZONES_OF_CITIES.get(CHINESE.exec(text)?.[0] ?? '')
  if (named !== undefined) return named
  for (const [, place = ''] of text.matchAll(BEHIND)) {
    const zone = zoneOfWords(place, 'start')
    if (zone !== undefined) return zone
  }
  for (const [, place = ''] of text.matchAll(BEFORE)) {
    const zone = zoneOfWords(place, 'end')
    if (zone !== undefined) return zone
  }
  return
}
