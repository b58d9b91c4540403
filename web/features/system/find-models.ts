import type { AddressModels } from '../../api/types.ts'

/** Ends of addresses that people copy from documentation; the root is what stands before them. */
const ENDS = /\/(chat\/completions|completions|responses|embeddings|models|messages)\/*$/
/** A version in the path, behind which nothing has to be added. */
const VERSION = /\/v\d+[a-z0-9]*(\/|$)/

interface Found {
  /** The root at which the models were listed, or as it was given. */
  readonly address: string
  readonly listing: AddressModels
}

/**
 * Lists the models at an address as people know it: also where it is that of one call, or lacks
 * the `/v1` that most services want.
 */
export async function findModels(
  list: (address: string) => Promise<AddressModels>,
  given: string,
): Promise<Found> {
  const address = given.trim().replace(ENDS, '')
  const listing = await list(address)
  if (listing.error_class !== 'no_list' || VERSION.test(address)) return { address, listing }
  const versioned = `${address.replace(/\/+$/, '')}/v1`
  const second = await list(versioned)
  return second.error_class === null
    ? { address: versioned, listing: second }
    : { address, listing }
}
