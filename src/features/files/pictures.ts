import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { ANONYMOUS } from '../../core/fields.ts'
import { CHAT_FILES_MAX, PICTURE_BYTES_MAX } from '../../core/limits/contract.ts'
import { pictureKind } from '../../core/picture-kind.ts'
import type { Principal } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import type { SessionStore } from '../sessions/store.ts'
import type { NewPicture, PictureStore, StoredPicture } from './picture-store.ts'
import type { FileStore } from './store.ts'

/** A picture of a talk, as its turn names it. */
export interface PictureRef {
  readonly file_id: string
  readonly width: number
  readonly height: number
}

/** The pictures of a question that are kept with its talk. */
export interface KeptPictures {
  readonly images: readonly PictureRef[]
  /** Statements that store them for a turn that may yet be stored, or fail. */
  pending(turnId: string): readonly Statement[]
  /** Statements of the transaction that stores the turn; `isPending`: they are stored already. */
  storing(isPending: boolean): readonly Statement[]
}

export interface PicturesParts {
  readonly store: PictureStore
  readonly files: Pick<FileStore, 'count'>
  readonly sessions: Pick<SessionStore, 'ownerOf'>
  readonly clock: { readonly now: () => number }
  /** Whether what is said is kept. */
  readonly isKeeping: () => boolean
}

const NONE: KeptPictures = { images: [], pending: () => [], storing: () => [] }
const DATA_URL = /^data:[^,]{1,200};base64,/i

/** Pictures of people's talks: they live as long as the talk. */
export function createPictures({ store, files, sessions, clock, isKeeping }: PicturesParts) {
  return {
    /**
     * Those of the images that are kept: of a person's own talk, as far as the tenant has room for
     * files. The others are sent to the model all the same.
     */
    async of(
      { tenantId, userId }: Principal,
      sessionId: string,
      images: readonly string[],
    ): Promise<KeptPictures> {
      if (!isKeeping() || userId === null || sessionId === ANONYMOUS || images.length === 0) {
        return NONE
      }
      const owner = await sessions.ownerOf(tenantId, sessionId)
      if (owner !== undefined && owner !== userId) return NONE
      const room = CHAT_FILES_MAX - (await files.count(tenantId, clock.now()))
      const kept: NewPicture[] = []
      for (const image of images) {
        const bytes = bytesOf(image)
        const kind = bytes && pictureKind(bytes)
        if (kept.length < room && kind) kept.push({ id: newId(), tenantId, userId, bytes, ...kind })
        // Five megabytes take milliseconds, in which streams would stand still.
        await new Promise(setImmediate)
      }
      const insert = (one: NewPicture, turnId: string | null) =>
        store.insert(one, turnId, clock.now(), CHAT_FILES_MAX)
      return {
        images: kept.map(({ id, width, height }) => ({ file_id: id, width, height })),
        pending: (turnId) => kept.map((one) => insert(one, turnId)),
        storing: (isPending) => [
          ...(isPending ? [] : kept.map((one) => insert(one, null))),
          ...kept.map((one) => store.link(one, sessionId)),
        ],
      }
    },

    /** Throws `not_found` for all but the person's own. */
    async read({ tenantId, userId }: Principal, id: string): Promise<StoredPicture> {
      const picture = await store.find(tenantId, userId ?? '', id)
      if (!picture) throw appError('not_found', { what: 'file' })
      return picture
    },

    sweep: store.sweep,
    prune: store.sweepAll,
  }
}

export type Pictures = ReturnType<typeof createPictures>

/** The bytes of image data; null for a link, and for a picture that is too large. */
function bytesOf(image: string): Uint8Array<ArrayBuffer> | null {
  const header = DATA_URL.exec(image.slice(0, 300))?.[0]
  if (header === undefined) return null
  if (((image.length - header.length) * 3) / 4 > PICTURE_BYTES_MAX + 3) return null
  const bytes = Uint8Array.from(Buffer.from(image.slice(header.length), 'base64'))
  return bytes.length > PICTURE_BYTES_MAX ? null : bytes
}
