import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useState,
} from 'react'
import { IMAGES_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { useToasts } from '../../lib/services.tsx'
import { useConversations } from './conversations.ts'
import type { Draft } from './drafts.ts'
import { isImage, toDataUrl } from './images.ts'
import { useAttachments } from './use-attachments.ts'
import type { Asked } from './use-conversation.ts'

/** A longer paste becomes a file beside the question. */
export const PASTED_CHARS_MAX = 4_000

/** The draft of a session, which outlives the page. */
function useDraft(session: string) {
  const { drafts } = useConversations()
  const [draft, setDraft] = useState(() => drafts.read(session))
  const change = useCallback(
    (how: (before: Draft) => Partial<Draft>) =>
      setDraft((before) => {
        const after = { ...before, ...how(before) }
        drafts.write(session, after)
        return after
      }),
    [drafts, session],
  )
  return [draft, change] as const
}

const isPicture = ({ type }: File) => type.startsWith('image/')
const PASTED = 'pasted.txt'

/**
 * Adds pictures and files to the question. A server that takes no files beside a question is
 * offered them for the knowledge base, if the person may add documents.
 */
export function useFiles(session: string) {
  const { t } = useI18n()
  const toasts = useToasts()
  const mayAdd = useMayChange()
  const [draft, change] = useDraft(session)
  const [documents, setDocuments] = useState<readonly File[]>([])
  const onRefused = async (file: File) => {
    if (file.name === PASTED) {
      const pasted = await file.text()
      change(({ text }) => ({ text: text + pasted }))
    } else if (mayAdd) setDocuments((before) => [...before, file])
    else toasts.show('bad', t('studio.files.refused'))
  }
  const attached = useAttachments((file) => void onRefused(file))
  const take = async (files: readonly File[]) => {
    attached.add(files.filter((file) => !isPicture(file)))
    const pictures = files.filter(isPicture)
    const fit = pictures.filter(isImage).slice(0, IMAGES_MAX)
    const urls = await Promise.all(fit.map(toDataUrl))
    change(({ images }) => ({ images: [...images, ...urls].slice(0, IMAGES_MAX) }))
    if (fit.length < pictures.length) {
      toasts.show('bad', t('studio.images.wrong', { max: IMAGES_MAX }))
    }
  }
  const takeNow = useEffectEvent(take)
  const onFiles = useCallback((files: readonly File[]) => void takeNow(files), [])
  return {
    draft,
    change,
    attached,
    documents,
    onFiles,
    paste: (text: string) => onFiles([new File([text], PASTED, { type: 'text/plain' })]),
    done: () => setDocuments([]),
  }
}

interface QuestionOptions {
  readonly files: ReturnType<typeof useFiles>
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly running: boolean
  readonly onSend: (question: Asked) => void
  readonly onStop: () => void
}

/** The question being written. Sent during an answer or before its files are there, it waits. */
export function useQuestion({ files, field, running, onSend, onStop }: QuestionOptions) {
  const { t } = useI18n()
  const [isQueued, setQueued] = useState(false)
  const { draft, change, attached } = files
  const { text, images } = draft
  const sound = attached.list.filter(({ problem }) => problem === null)
  const isReady = text.trim() !== '' || images.length + sound.length > 0
  const waits = running || attached.isSending
  const send = () => {
    setQueued(waits && isReady)
    if (waits || !isReady) return
    const usual = t(images.length > 0 ? 'studio.images.ask' : 'studio.files.ask')
    const fileIds = sound.flatMap(({ file }) => file?.id ?? [])
    onSend({
      text: text.trim() || usual,
      images,
      ...(fileIds.length > 0 ? { fileIds, files: sound.map(({ name }) => name) } : {}),
    })
    change(() => ({ text: '', images: [] }))
    attached.clear()
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
    isReady,
    isQueued,
    send,
    stop,
    write(next: string) {
      setQueued(false)
      change(() => ({ text: next }))
    },
    onKey(event: KeyboardEvent) {
      // Enter confirms a word while an input method composes.
      if (event.nativeEvent.isComposing) return
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
