import { ChannelFailure } from '../../channels/ports/failure.ts'
import { upstream } from '../../core/errors.ts'

/** 502: what a person is told when nothing can be embedded. */
export const unavailable = (cause?: unknown) =>
  upstream('知识库向量服务暂不可用，请稍后重试', cause)

/** The same, with a failure of the embedder as that 502. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ChannelFailure) throw unavailable(error)
    throw error
  }
}
