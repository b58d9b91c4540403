import { Eye } from 'lucide-react'
import type { ReactNode } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { useMayChange, useOwns } from '../lib/rights.ts'
import { Notice } from './page.tsx'

interface ContentProps {
  readonly children: ReactNode
}

/** Hides buttons from viewers. */
export const ForEditors = ({ children }: ContentProps) => (useMayChange() ? children : null)

/** Hides buttons from all but owners. */
export const ForOwners = ({ children }: ContentProps) => (useOwns() ? children : null)

/** Makes fields read-only for viewers. */
export function Changeable({ children }: ContentProps) {
  const { t } = useI18n()
  const may = useMayChange()
  return (
    <>
      {!may && <Notice icon={<Eye size={16} aria-hidden />}>{t('members.reads')}</Notice>}
      <fieldset className="contents" disabled={!may}>
        {children}
      </fieldset>
    </>
  )
}
