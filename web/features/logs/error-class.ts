import type { ErrorClass } from '../../../src/core/error-table.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'

/** The error classes of the request log, in the reader's words. */
const WORDS: Readonly<Record<ErrorClass, Key>> = {
  bad_request: 'logs.class.bad_request',
  forbidden: 'logs.class.forbidden',
  gone: 'logs.class.gone',
  internal: 'logs.class.internal',
  method_not_allowed: 'logs.class.method_not_allowed',
  not_found: 'logs.class.not_found',
  rate_limited: 'logs.class.rate_limited',
  too_large: 'logs.class.too_large',
  unavailable: 'logs.class.unavailable',
  unauthorized: 'logs.class.unauthorized',
  upstream: 'logs.class.upstream',
}

/** A 401 is not logged. */
export const ERROR_CLASSES = Object.keys(WORDS).filter((name) => name !== 'unauthorized')

const isKnown = (name: string): name is keyof typeof WORDS => Object.hasOwn(WORDS, name)

/** The words for an error class; an unknown one stays as it is. */
export function useErrorClass(): (name: string) => string {
  const { t } = useI18n()
  return (name) => (isKnown(name) ? t(WORDS[name]) : name)
}
