/** The default theme, with tables that wrap. */
import DefaultTheme from 'vitepress/theme';
import './style.css';

export default DefaultTheme;
