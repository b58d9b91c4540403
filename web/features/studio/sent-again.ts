import { ApiError } from '../../api/client.ts'
import { pictureAt, talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import type { SentFile } from './asked-of.ts'
import { toDataUrl } from './images.ts'
import type { Turn } from './turn.ts'

/** Pictures in the form in which a question sends them again, as far as they can be had. */
async function picturesAgain(images: readonly string[]): Promise<string[]> {
  const again = images.map(async (image) => {
    if (image.startsWith('data:')) return [image]
    const picture = await pictureAt(image).catch(() => null)
    return picture ? [await toDataUrl(picture)] : []
  })
  return (await Promise.all(again)).flat()
}

const MISSING = 404

/** Those of the files that the server still has; all that it does not deny. */
async function filesAgain(files: readonly SentFile[]): Promise<SentFile[]> {
  const isGone = (error: unknown) => error instanceof ApiError && error.status === MISSING
  const again = files.map(async (file) => {
    if (file.id === null) return []
    const gone = await talks.file(file.id).then(() => false, isGone)
    return gone ? [] : [file]
  })
  return (await Promise.all(again)).flat()
}

/** What a question carries when it is asked again: pictures and files that are still there. */
export function useSentAgain() {
  const toasts = useToasts()
  const { t } = useI18n()
  return async ({ images: shown, files: sent }: Pick<Turn, 'images' | 'files'>) => {
    const [images, files] = await Promise.all([picturesAgain(shown), filesAgain(sent)])
    for (const file of sent) {
      if (!files.includes(file)) toasts.show('bad', t('studio.file.left', { name: file.name }))
    }
    return { images, files }
  }
}
