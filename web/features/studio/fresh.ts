const ID_BYTES = 16

const PREFIX = 'temporary-'

/** The name of a talk that only this page knows; the server is not told it. */
export const temporarySession = (): string => PREFIX + randomName()

export const isTemporary = (session: string): boolean => session.startsWith(PREFIX)

/** The id of a new talk, which nobody can guess. */
export const freshSession = (): string => `play-${randomName()}`

/** The name of a question, in the form of the server's own: the server takes each once. */
export const questionName = (): string =>
  randomName().replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

const randomName = (): string =>
  [...crypto.getRandomValues(new Uint8Array(ID_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
