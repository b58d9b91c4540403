import type { Principal } from '../../../core/principal.ts'
import type { Refresh, Source, SourceState } from './model.ts'

/** The columns of a source that the work on it needs. */
export interface SourceRow {
  readonly id: string
  readonly tenant_id: string
  /**
   * `chat`: a file of a conversation, which is no source of the knowledge base; `version`: of
   * another source (version-store.ts).
   */
  readonly kind: Source['kind'] | 'chat' | 'version'
  readonly title: string
  /** 1 when the title was given; the page's own title does not replace it. */
  readonly is_named: number
  readonly file_name: string
  readonly media_type: string
  readonly bytes: number
  readonly url: string | null
  readonly refresh: Refresh | null
  readonly state: SourceState
  /** Epoch milliseconds; null when no check is scheduled. */
  readonly due_at: number | null
  /** Failures of the embedder in a row. */
  readonly attempts: number
  readonly text_hash: string | null
  readonly etag: string | null
  readonly last_modified: string | null
  /** The id of a collection, or `none`. */
  readonly collection_id: string
  readonly origin: string | null
  readonly sha256: string | null
  readonly key_id: string | null
  readonly app_id: string | null
  readonly user_id: string | null
  /** Until when a file that has failed can be read again (epoch ms); null: it cannot. */
  readonly spooled_until: number | null
  /** The source whose documents a version replaces. */
  readonly replaces: string | null
}

export type SourceKey = Pick<SourceRow, 'tenant_id' | 'id'>

/** Who has sent a file or named a page: a model's reading of it counts for them. */
export type Uploader = Pick<Principal, 'tenantId' | 'keyId' | 'appId' | 'userId'>

export const uploaderOf = (row: SourceRow): Uploader => ({
  tenantId: row.tenant_id,
  keyId: row.key_id,
  appId: row.app_id,
  userId: row.user_id,
})

/** Nobody: of what an import or another source has brought. */
export const noUploader = (tenantId: string): Uploader => ({
  tenantId,
  keyId: null,
  appId: null,
  userId: null,
})
