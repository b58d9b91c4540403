import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useState,
  useSyncExternalStore,
} from 'react'
import { IMAGES_MAX, TURN_FILES_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { isComposing } from '../../lib/composing.ts'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { useToasts } from '../../lib/services.tsx'
import { sentFiles } from './asked-of.ts'
import { useConversations } from './conversations.ts'
import { type ChangeDraft, NO_DRAFT } from './drafts.ts'
import { charsOf, isTooLong } from './question-length.tsx'
import type { Waiting } from './queue.ts'
import type { Asked } from './use-asking.ts'
import { useAttachments } from './use-attachments.ts'

/** A longer paste becomes a file beside the question. */
export const PASTED_CHARS_MAX = 4_000

/** The draft of a session, which outlives the page. */
function useDraft(session: string) {
  const { drafts } = useConversations()
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.read(session))
  const change: ChangeDraft = useCallback((how) => drafts.change(session, how), [drafts, session])
  return [draft, change] as const
}

const isPicture = ({ type }: File) => type.startsWith('image/')
const PASTED = 'pasted.txt'

/** Those that fit, to be sent. One that cannot be read is left out with the others. */
async function drawnOf(pictures: readonly File[]): Promise<string[]> {
  const { isImage, toSmallUrl } = await loadChunk(() => import('./images.ts'))
  const fit = pictures.filter(isImage).slice(0, IMAGES_MAX)
  return (await Promise.all(fit.map((file) => toSmallUrl(file).catch(() => [])))).flat()
}

/** Adds pictures and files to the question. */
export function useFiles(session: string) {
  const { t } = useI18n()
  const toasts = useToasts()
  const [draft, change] = useDraft(session)
  const attached = useAttachments(draft, change)
  const [drawing, setDrawing] = useState(0)
  const take = async (files: readonly File[]) => {
    const documents = files.filter((file) => !isPicture(file))
    const room = Math.max(0, TURN_FILES_MAX - attached.list.length)
    attached.add(documents.slice(0, room))
    if (documents.length > room) {
      toasts.show('bad', t('studio.files.many', { max: TURN_FILES_MAX }))
    }
    const pictures = files.filter(isPicture)
    if (pictures.length === 0) return
    setDrawing((count) => count + 1)
    const urls = await drawnOf(pictures).finally(() => setDrawing((count) => count - 1))
    change(({ images }) => ({ images: [...images, ...urls].slice(0, IMAGES_MAX) }))
    if (urls.length < pictures.length) {
      toasts.show('bad', t('studio.images.wrong', { max: IMAGES_MAX }))
    }
  }
  const takeNow = useEffectEvent(take)
  const onFiles = useCallback((files: readonly File[]) => void takeNow(files), [])
  return {
    draft,
    change,
    attached,
    /** Whether some are still on their way into the question. */
    isTaking: drawing > 0 || attached.isSending,
    onFiles,
    paste: (text: string) => onFiles([new File([text], PASTED, { type: 'text/plain' })]),
  }
}

interface QuestionOptions {
  readonly files: ReturnType<typeof useFiles>
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly running: boolean
  /** Whether a question that is sent during an answer waits in the field. */
  readonly holds: boolean
  /** Resolved with false, the question was not sent and goes back into the field. */
  readonly onSend: (question: Asked) => undefined | Promise<boolean>
  readonly onStop: () => void
}

/** The question being written. Sent before its files are there, it waits here. */
export function useQuestion({ files, field, running, holds, onSend, onStop }: QuestionOptions) {
  const { t } = useI18n()
  const [isQueued, setQueued] = useState(false)
  const { draft, change, attached } = files
  const { text, images, collections } = draft
  const sound = attached.list.filter(({ problem }) => problem === null)
  const chars = charsOf(text)
  const isReady = !isTooLong(chars) && (text.trim() !== '' || images.length + sound.length > 0)
  const waits = files.isTaking || (holds && running)
  /** Puts a question before what is written already. */
  const putBack = ({ text: before, images: shown, files: sent = [], ...rest }: Asked) => {
    setQueued(false)
    attached.restore(sent)
    change((now) => ({
      text: [before, now.text].filter((part) => part.trim() !== '').join('\n\n'),
      images: [...shown, ...now.images].slice(0, IMAGES_MAX),
      collections: [...new Set([...(rest.collections ?? []), ...now.collections])],
    }))
  }
  const send = () => {
    setQueued(waits && isReady)
    if (waits || !isReady) return
    const usual = t(images.length > 0 ? 'studio.images.ask' : 'studio.files.ask')
    const asked = {
      images,
      files: sound.map(({ file, name }) => ({ id: file?.id ?? null, name })),
      ...(collections.length > 0 ? { collections } : {}),
    }
    const sent = onSend({ text: text.trim() || usual, ...asked })
    void sent?.then((isSent) => isSent || putBack({ text, ...asked }))
    change(() => NO_DRAFT)
    field.current?.form?.removeAttribute('data-typed')
  }
  const sendNow = useEffectEvent(send)
  useEffect(() => {
    if (isQueued && !waits) sendNow()
  }, [isQueued, waits])
  const stop = () => {
    setQueued(false)
    onStop()
  }
  return {
    text,
    images,
    change,
    collections,
    chars,
    isReady,
    isQueued,
    send,
    stop,
    /** Takes a question that waited back to be written anew, before what is written already. */
    takeBack({ request, names }: Waiting) {
      const { text: before, images: shown, collections: within = [] } = request
      const files = sentFiles(names, request.files)
      putBack({ text: before, images: shown, files, collections: within })
      field.current?.focus()
    },
    write(next: string) {
      setQueued(false)
      change(() => ({ text: next }))
    },
    onKey(event: KeyboardEvent) {
      // Enter confirms a word while an input method composes.
      if (isComposing(event.nativeEvent)) return
      if (event.key === 'Escape') {
        if (running) stop()
        else field.current?.blur()
      }
      if (event.key !== 'Enter' || event.shiftKey) return
      event.preventDefault()
      send()
    },
  }
}
