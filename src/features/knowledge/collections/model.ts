import { z } from 'zod'
import { issue } from '../../../core/errors.ts'
import { nullableText, requiredText } from '../../../core/fields.ts'
import {
  COLLECTION_DESCRIPTION_CHARS_MAX,
  COLLECTION_NAME_CHARS_MAX,
} from '../../../core/limits/contract.ts'
import { NO_COLLECTION } from '../../../storage/collections.ts'

/** Body of POST and PUT; also a collection of an imported configuration. */
export const CollectionRequest = z.lazy(() =>
  z.object({
    name: requiredText('name', COLLECTION_NAME_CHARS_MAX).refine((name) => name !== NO_COLLECTION, {
      error: issue('field_invalid', { field: 'name' }),
    }),
    description: nullableText('description', COLLECTION_DESCRIPTION_CHARS_MAX),
  }),
)
export type CollectionRequest = z.infer<typeof CollectionRequest>

/** A group of documents; an assistant may be bound to some of them. */
export const Collection = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    doc_count: z.int(),
    source_count: z.int(),
    created_at: z.string(),
  }),
)
export type Collection = z.infer<typeof Collection>

export const CollectionListResponse = z.lazy(() =>
  z.object({
    collections: z.array(Collection),
    next_before: z.string().nullable(),
  }),
)
export const CollectionDeleted = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)
