/** The zone of this browser. */
export const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Zones to choose from, with this one, which the browser may know by another name. */
export const zonesWith = (zone: string): readonly string[] =>
  [...new Set([zone, zoneHere(), 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort()

/** A zone as people call it, such as `Central European Standard Time`; its name where unknown. */
export function zoneWords(zone: string, locale: string): string {
  try {
    const format = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: 'long' })
    return format.formatToParts().find(({ type }) => type === 'timeZoneName')?.value ?? zone
  } catch {
    return zone
  }
}
