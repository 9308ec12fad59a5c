// What the host says about changes that tools made in files (servers §2.7).

import type { components } from './wire';

type Schemas = components['schemas'];
type Narrow<T, Known> = Omit<T, keyof Known> & Known;

export const CHANGE_KINDS = ['created', 'modified', 'deleted', 'moved'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];
export type UndoAction = 'restored' | 'removed' | 'recreated' | 'moved_back';

export type FileContent = Narrow<Schemas['FileContent'], { state: 'absent' | 'kept' | 'omitted' | 'lost' }>;
export type FileChange = Narrow<Schemas['FileChangeView'], { change: ChangeKind; before: FileContent; after: FileContent }>;
export type FileChangeList = Narrow<Schemas['FileChangeList'], { changes: FileChange[] }>;
export type FileChangeDetail = Narrow<Schemas['FileChangeDetail'], { change: FileChange }>;
export type UndoneFile = Narrow<Schemas['UndoneFile'], { action: UndoAction }>;
export type UndoAnswer = Narrow<Schemas['UndoAnswer'], { steps: UndoneFile[]; changes: FileChange[] }>;
