import { type ReactNode, useId, useState } from 'react';
import { fileUrl } from '../api/client.ts';
import type { SharedFile } from '../api/types.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon, IconButton } from '../ui/icon.tsx';

export function Files({ files }: { files: readonly SharedFile[] }): ReactNode {
  return files.map((file) => <FileView key={file.id} file={file} />);
}

/** A picture is shown in place; anything else is a card with "open" and "download". */
function FileView({ file }: { file: SharedFile }): ReactNode {
  const name = file.title || file.name || file.id;
  if (file.mimetype !== undefined && /^image\/(?:png|jpeg|gif)$/.test(file.mimetype)) {
    return (
      <figure className="figure">
        <figcaption>{name}</figcaption>
        <a
          href={fileUrl(file.id)}
          target="_blank"
          rel="noopener noreferrer"
          className="image-link"
          aria-label={`Open ${name}`}
        >
          <img className="image-block" src={fileUrl(file.id)} alt={file.alt_txt ?? name} />
        </a>
      </figure>
    );
  }
  return <FileCard file={file} name={name} />;
}

function FileCard({ file, name }: { file: SharedFile; name: string }): ReactNode {
  const isPdf = file.mimetype === 'application/pdf';
  return (
    <div className="file-card">
      <span className={`file-icon${isPdf ? ' file-pdf' : ''}`} aria-hidden="true">
        <Icon name={isPdf ? 'file-text' : 'file'} />
      </span>
      <span className="file-text">
        <span className="file-name">{name}</span>
        <span className="file-kind">
          {[isPdf ? 'PDF' : file.mimetype, sizeOf(file.size)].filter(Boolean).join(' · ')}
        </span>
      </span>
      {isPdf && navigator.pdfViewerEnabled && <PdfPreview file={file} name={name} />}
      <a
        className="button button-small"
        href={fileUrl(file.id)}
        target="_blank"
        rel="noopener noreferrer"
        aria-label={`Open ${name}`}
      >
        <Icon name="external-link" />
        Open
      </a>
      <a
        className="button button-small"
        href={fileUrl(file.id)}
        download={file.name ?? name}
        aria-label={`Download ${name}`}
      >
        <Icon name="download" />
        Download
      </a>
    </div>
  );
}

/** The browser's own viewer, over the page. */
function PdfPreview({ file, name }: { file: SharedFile; name: string }): ReactNode {
  const id = useId();
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="button button-small"
        aria-label={`Preview ${name}`}
        onClick={() => setOpen(true)}
      >
        <Icon name="eye" />
        Preview
      </button>
      {open && (
        <Dialog labelledBy={id} className="preview" onClose={() => setOpen(false)}>
          <header className="modal-head">
            <h2 id={id} className="dialog-title">
              {name}
            </h2>
            <IconButton icon="x" label="Close preview" onClick={() => setOpen(false)} />
          </header>
          <iframe
            className="preview-page"
            src={`${fileUrl(file.id)}#toolbar=0&navpanes=0&view=FitH`}
            title={name}
          />
        </Dialog>
      )}
    </>
  );
}

function sizeOf(bytes: number | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
