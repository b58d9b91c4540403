import type { SystemSetting } from '../../api/types.ts'

/** The name of the key that is sent to an address. */
export const keyNameOf = (address: string): string => address.replace('_BASE_URL', '_API_KEY')

function isSameServer(one: string, other: string | null): boolean {
  if (other === null || !URL.canParse(one) || !URL.canParse(other)) return false
  const [a, b] = [new URL(one), new URL(other)]
  return a.protocol === b.protocol && a.host === b.host
}

/**
 * Whether saving the typed values drops a saved key, as the server does where the address becomes
 * that of another server and no new key is given.
 */
export const dropsKey = (
  settings: readonly SystemSetting[],
  values: Readonly<Record<string, string | null>>,
): boolean =>
  settings.some(({ name, value, source }) => {
    const to = values[name]
    if (!name.endsWith('_BASE_URL') || source !== 'console' || !value || to === undefined) {
      return false
    }
    const key = settings.find((one) => one.name === keyNameOf(name))
    const isKept = key?.source === 'console' && values[key.name] === undefined
    return isKept && !isSameServer(value, to)
  })
