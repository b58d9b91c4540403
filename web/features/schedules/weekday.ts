/** A Sunday. */
const SUNDAY = Date.UTC(2026, 10, 22)
const DAY_MS = 86_400_000

/** The name of a day of the week; 0 is Sunday. */
export const weekdayName = (number: number, locale: string): string =>
  new Date(SUNDAY + number * DAY_MS).toLocaleDateString(locale, {
    weekday: 'long',
    timeZone: 'UTC',
  })
