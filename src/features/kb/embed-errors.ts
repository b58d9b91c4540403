import { ChannelFailure } from '../../channels/ports/failure.ts'
import { appError } from '../../core/errors.ts'

/** 502: what a person is told when nothing can be embedded. */
export const unavailable = (cause?: unknown) => appError('embedding_unavailable', {}, { cause })

/** The same, with a failure of the embedder as that 502. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ChannelFailure) throw unavailable(error)
    throw error
  }
}
