import type { Gated } from '../../http/gate.ts'
import { answerDoc } from '../../http/openapi-parts.ts'
import type { Pictures } from './pictures.ts'

const PICTURE_CONTENT = {
  'image/*': { schema: { type: 'string' as const, format: 'binary' as const } },
}

/** Pictures of a person's own talks. */
export const pictureRoutes = (on: Gated, pictures: Pick<Pictures, 'read'>) =>
  on.get(
    '/files/:id/image',
    async ({ principal, params }) => {
      const { media_type, bytes } = await pictures.read(principal, params.id)
      return new Response(new Uint8Array(bytes), {
        headers: {
          'content-type': media_type,
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
          'cache-control': 'private, max-age=3600',
        },
      })
    },
    {
      allow: ['session'],
      detail: {
        summary: 'A picture of one of the person’s talks',
        responses: answerDoc('The picture, as it came', PICTURE_CONTENT),
      },
    },
  )
