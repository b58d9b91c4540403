import { orAborted } from '../../core/abort.ts'
import { appError, issue } from '../../core/errors.ts'
import { IMAGE_BYTES_MAX } from '../../core/limits/contract.ts'
import { timeSlice } from '../../core/time-slice.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { checkLiteral, type Guard } from './url-guard.ts'

/** RFC 2397: a media type with optional parameters such as `charset=utf-8`. */
const DATA_URL =
  /^data:image\/[a-z0-9.+-]{1,40}(?:;[a-z0-9._+-]{1,40}=[a-z0-9._+-]{0,40})*;base64,/i
const HEADER_CHARS_MAX = 200
const NOT_BASE64 = /[^A-Za-z0-9+/]/
/** Characters of one step, which takes less than a millisecond. */
const STEP_CHARS = 256 * 1024

/**
 * The `issue` of a refused image reference, or null. A link must be https and must not name an
 * internal host: the model server that fetches it may be inside the operator's network.
 * `checkImageData` checks what image data consists of.
 */
export function checkImage(image: string): string | null {
  const header = DATA_URL.exec(image.slice(0, HEADER_CHARS_MAX))?.[0]
  if (header !== undefined) return checkData(image, header.length)
  // Checks the text as given: the model server parses it too, perhaps differently.
  const checked = checkLiteral(image, [])
  if ('url' in checked && checked.url.protocol === 'https:') return null
  if ('refused' in checked && checked.refused === 'internal') {
    return issue('image_host_internal')
  }
  return issue('image_form')
}

/** The addresses of a host name; throws `ChannelFailure` when one of them is internal. */
export type ImageGuard = Pick<Guard, 'connectable'>

/**
 * Resolves the hosts of image links. Throws `image_host_internal` when an address is internal. A
 * name that does not resolve here in time is passed on: the model server may know it, and resolves
 * every name itself in any case, so this check cannot bind what the server connects to.
 */
export async function checkImageHosts(
  images: readonly string[],
  tenantId: string,
  guard: ImageGuard,
): Promise<void> {
  const links = images.filter((image) => !DATA_URL.test(image.slice(0, HEADER_CHARS_MAX)))
  if (links.length === 0) return
  const hosts = new Set(links.map((link) => new URL(link).host))
  const signal = AbortSignal.timeout(IMAGE_RESOLVE_MS_MAX)
  await Promise.all(
    [...hosts].map(async (host) => {
      try {
        // The query continues after the wait, so that a failed name is remembered.
        await orAborted(guard.connectable(`https://${host}/`, { tenantId }), signal)
      } catch (error) {
        if (error instanceof ChannelFailure) throw appError('image_host_internal')
      }
    }),
  )
}

const IMAGE_RESOLVE_MS_MAX = 2_000

function checkData(image: string, start: number): string | null {
  const length = image.length - start
  const padding = image.endsWith('==') ? 2 : image.endsWith('=') ? 1 : 0
  if (Math.floor((length * 3) / 4) - padding > IMAGE_BYTES_MAX) {
    return issue('image_too_large', { max: IMAGE_BYTES_MAX / 1024 / 1024 })
  }
  // Padding is optional, but where it is given it must fill the last group of four.
  const whole = padding === 0 ? length % 4 !== 1 : length % 4 === 0
  return whole && length > padding ? null : issue('image_not_base64')
}

/**
 * Checks the alphabet of image data in steps, because ten megabytes take 27 ms in one. Throws
 * `image_not_base64`.
 */
export async function checkImageData(
  images: readonly string[],
  steady: () => number,
): Promise<void> {
  const slice = timeSlice(steady)
  // Validating the body has just used up a slice.
  if (images.length > 0) await slice.next()
  for (const image of images) {
    const header = DATA_URL.exec(image.slice(0, HEADER_CHARS_MAX))?.[0]
    if (header === undefined) continue
    const end = image.length - (image.endsWith('==') ? 2 : image.endsWith('=') ? 1 : 0)
    for (let at = header.length; at < end; at += STEP_CHARS) {
      const step = image.slice(at, Math.min(end, at + STEP_CHARS))
      if (NOT_BASE64.test(step)) throw appError('image_not_base64')
      if (slice.isOver()) await slice.next()
    }
  }
}
