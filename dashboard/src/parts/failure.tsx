/** Shows an error of the page itself, instead of a blank page. */
import {Component} from 'react';
import type {ReactNode} from 'react';
import {useTexts} from '../language.ts';
import {Page} from './page.tsx';
import {Shell} from './shell.tsx';

/** Most often code that cannot be had: the network is gone, or a new release has replaced it. */
export class Failure extends Component<{children: ReactNode}, {failed: boolean}> {
  override state = {failed: false};

  static getDerivedStateFromError = (): {failed: boolean} => ({failed: true});

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return <Failed />;
  }
}

function Failed() {
  const {failure: texts} = useTexts();
  return (
    <Shell>
      <Page title={texts.title}>
        <div className="notice bad" role="alert">
          <p>{texts.text}</p>
        </div>
        <p>
          <button type="button" className="primary" onClick={() => location.reload()}>
            {texts.reload}
          </button>
        </p>
      </Page>
    </Shell>
  );
}
