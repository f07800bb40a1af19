//! The simulation on a terminal: what is possible, inputs, variables, properties, and the steps so far.

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, List, ListItem, ListState, Paragraph, Wrap};
use std::io;
use vouch_host::ir::{InputId, PropertyId, Type, VarId, value};
use vouch_host::report::walk;
use vouch_host::simulate::script::{Files, with};
use vouch_host::simulate::{Choice, Session};

/// Steps that `R` does.
const MANY: usize = 10;
const KEYS: &str = "Tab pane · ↑↓ select · Enter take/set · Space toggle · ←→ back/forward · r step at random · \
    R ten · x leave open · w watch · l load · s save · q quit";

/// What can be selected in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pane {
    Possible,
    Inputs,
    Variables,
}

/// What is asked for in the last line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    Value(InputId),
    Start(VarId),
    Load,
    Save,
}

/// State of the terminal interface: the session, what is selected, and what is being typed.
pub struct Screen<'s, 'm> {
    session: &'s mut Session<'m>,
    files: &'s mut dyn Files,
    choices: Vec<Choice>,
    pane: Pane,
    selected: [usize; 3],
    asked: Option<(Ask, String)>,
    message: String,
}

/// Shows the screen until it is left.
pub fn run(session: &mut Session<'_>, files: &mut dyn Files) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let mut screen = Screen::new(session, files);
    let done = loop {
        if let Err(error) = terminal.draw(|frame| screen.draw(frame)) {
            break Err(error);
        }
        match event::read() {
            Ok(Event::Key(key)) if key.kind == KeyEventKind::Press => {
                if screen.key(key) {
                    break Ok(());
                }
            }
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    ratatui::try_restore()?;
    done
}

impl<'s, 'm> Screen<'s, 'm> {
    fn new(session: &'s mut Session<'m>, files: &'s mut dyn Files) -> Screen<'s, 'm> {
        let choices = session.choices();
        let (pane, message) = (Pane::Possible, String::new());
        Screen { session, files, choices, pane, selected: [0; 3], asked: None, message }
    }

    fn rows(&self, pane: Pane) -> usize {
        match pane {
            Pane::Possible => self.choices.len(),
            Pane::Inputs => self.session.moves.cfa.inputs.len(),
            Pane::Variables => self.session.moves.cfa.vars.len(),
        }
    }

    fn at(&self, pane: Pane) -> usize {
        self.selected[pane as usize].min(self.rows(pane).saturating_sub(1))
    }

    /// Does what a key means; `true` to leave.
    fn key(&mut self, key: KeyEvent) -> bool {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return true;
        }
        self.message.clear();
        if let Some((ask, mut text)) = self.asked.take() {
            match key.code {
                KeyCode::Enter => self.answer(ask, &text),
                KeyCode::Esc => {}
                KeyCode::Backspace => {
                    text.pop();
                    self.asked = Some((ask, text));
                }
                KeyCode::Char(c) => {
                    text.push(c);
                    self.asked = Some((ask, text));
                }
                _ => self.asked = Some((ask, text)),
            }
        } else {
            match key.code {
                KeyCode::Char('q') => return true,
                KeyCode::Tab => {
                    self.pane = match self.pane {
                        Pane::Possible => Pane::Inputs,
                        Pane::Inputs => Pane::Variables,
                        Pane::Variables => Pane::Possible,
                    }
                }
                KeyCode::Up => {
                    self.selected[self.pane as usize] = self.at(self.pane).saturating_sub(1)
                }
                KeyCode::Down => self.selected[self.pane as usize] = self.at(self.pane) + 1,
                KeyCode::Left => drop(self.session.back(1)),
                KeyCode::Right => drop(self.session.forward(1)),
                KeyCode::Enter => self.enter(),
                KeyCode::Char(' ') => self.toggle(),
                KeyCode::Char('r') => self.random(1),
                KeyCode::Char('R') => self.random(MANY),
                KeyCode::Char('x') => self.unset(),
                KeyCode::Char('w') => self.watch(),
                KeyCode::Char('l') => self.asked = Some((Ask::Load, String::new())),
                KeyCode::Char('s') => self.asked = Some((Ask::Save, String::new())),
                _ => self.message = "this key does nothing".into(),
            }
        }
        self.choices = self.session.choices();
        false
    }

    fn enter(&mut self) {
        match self.pane {
            Pane::Possible => {
                let choice = self.choices.get(self.at(Pane::Possible)).cloned();
                match choice {
                    Some(choice) => drop(self.session.take(&choice)),
                    None => self.message = self.session.possible().replace('\n', " "),
                }
            }
            Pane::Inputs if self.rows(Pane::Inputs) > 0 => {
                let id = InputId(self.at(Pane::Inputs) as u32);
                self.asked = Some((Ask::Value(id), String::new()));
            }
            Pane::Variables if self.rows(Pane::Variables) > 0 => {
                let id = VarId(self.at(Pane::Variables) as u32);
                self.asked = Some((Ask::Start(id), String::new()));
            }
            _ => {}
        }
    }

    fn answer(&mut self, ask: Ask, text: &str) {
        let done = match ask {
            Ask::Value(id) => self.session.set(&self.session.names.input(id), text.trim()),
            Ask::Start(id) => self.session.set(&self.session.names.var(id), text.trim()),
            Ask::Load => self.files.load(self.session, text.trim()),
            Ask::Save => self.files.save(self.session, text.trim()),
        };
        self.message = match (done, ask) {
            (Err(message), _) => message.replace('\n', " "),
            (Ok(()), Ask::Save) => format!("the run is written to {}", text.trim()),
            (Ok(()), _) => String::new(),
        };
    }

    /// Turns a boolean input over.
    fn toggle(&mut self) {
        let id = InputId(self.at(Pane::Inputs) as u32);
        let input = self.session.moves.cfa.inputs.get(id.index());
        if !input.is_some_and(|i| i.ty == Type::Bool && self.pane == Pane::Inputs) {
            self.message = "Space turns over a boolean input".into();
            return;
        }
        let new = self.session.given().get(&id) != Some(&1);
        let name = self.session.names.input(id);
        if let Err(message) = self.session.set(&name, &new.to_string()) {
            self.message = message;
        }
    }

    fn random(&mut self, steps: usize) {
        for _ in 0..steps {
            if !self.session.step_at_random() {
                self.message = "no further step is possible".into();
                break;
            }
        }
    }

    fn unset(&mut self) {
        let name = match self.pane {
            Pane::Inputs if self.rows(Pane::Inputs) > 0 => {
                Some(self.session.names.input(InputId(self.at(Pane::Inputs) as u32)))
            }
            _ => None,
        };
        if let Err(message) = self.session.unset(name.as_deref()) {
            self.message = message;
        }
    }

    fn watch(&mut self) {
        if self.pane != Pane::Variables || self.rows(Pane::Variables) == 0 {
            self.message = "select a variable to watch it".into();
            return;
        }
        let id = VarId(self.at(Pane::Variables) as u32);
        match self.session.watches.iter().position(|w| *w == id) {
            Some(at) => drop(self.session.watches.remove(at)),
            None => self.session.watches.push(id),
        }
    }

    /// Draws all of it.
    fn draw(&self, frame: &mut Frame<'_>) {
        let [title, middle, low, ask, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Fill(3),
            Constraint::Fill(2),
            Constraint::Length(1),
            Constraint::Length(2),
        ])
        .areas(frame.area());
        let [possible, variables] =
            Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(middle);
        let [inputs, properties, steps] =
            Layout::horizontal([Constraint::Fill(2), Constraint::Fill(2), Constraint::Fill(3)])
                .areas(low);
        let (at, more) = self.session.position();
        let more = if more > 0 { format!(" (+{more})") } else { String::new() };
        let name = &self.session.moves.cfa.name;
        let text = format!(" {name}: {} after {at} steps{more}", self.session.place());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        frame.render_widget(Line::styled(text, bold), title);
        self.list(frame, possible, Pane::Possible, "possible", self.shown_choices());
        self.list(frame, inputs, Pane::Inputs, "inputs", self.shown_inputs());
        self.list(frame, variables, Pane::Variables, "variables", self.shown_variables());
        let block = Block::bordered().title("properties");
        frame.render_widget(Paragraph::new(self.shown_properties()).block(block), properties);
        let lines = walk::steps(self.session.moves, &self.session.walk(), at.saturating_sub(4));
        let height = steps.height.saturating_sub(2) as usize;
        let lines: Vec<Line<'_>> = lines
            .iter()
            .skip(lines.len().saturating_sub(height))
            .map(|l| l.clone().into())
            .collect();
        let block = Block::bordered().title("steps");
        frame.render_widget(Paragraph::new(lines).block(block), steps);
        let line = match &self.asked {
            Some((ask, text)) => format!(" {} {text}▏", self.prompt(*ask)),
            None => format!(" {}", self.message),
        };
        frame.render_widget(Line::raw(line), ask);
        let bar = Style::new().add_modifier(Modifier::REVERSED);
        let text = Paragraph::new(KEYS).style(bar).wrap(Wrap { trim: true });
        frame.render_widget(text, keys);
    }

    fn prompt(&self, ask: Ask) -> String {
        match ask {
            Ask::Value(id) => {
                let input = &self.session.moves.cfa.inputs[id.index()];
                let what = value::describe(&input.ty, input.width);
                format!("{} ({what}):", self.session.names.input(id))
            }
            Ask::Start(id) => format!("{}:", self.session.names.var(id)),
            Ask::Load => "load which file?".into(),
            Ask::Save => "save to which file?".into(),
        }
    }

    fn list(&self, frame: &mut Frame<'_>, area: Rect, pane: Pane, title: &str, rows: Vec<String>) {
        let has_focus = self.pane == pane;
        let block = Block::bordered().title(title.to_string());
        let block = if has_focus {
            block.border_style(Style::new().add_modifier(Modifier::BOLD))
        } else {
            block
        };
        let items: Vec<ListItem<'_>> = rows.into_iter().map(ListItem::new).collect();
        let list = List::new(items)
            .block(block)
            .highlight_symbol(if has_focus { "> " } else { "  " })
            .highlight_style(match has_focus {
                true => Style::new().add_modifier(Modifier::REVERSED),
                false => Style::new(),
            });
        let mut state = ListState::default();
        state.select(Some(self.at(pane)).filter(|_| self.rows(pane) > 0));
        frame.render_stateful_widget(list, area, &mut state);
    }

    fn shown_choices(&self) -> Vec<String> {
        self.choices.iter().map(|c| format!("{}{}", c.name, with(self.session, c))).collect()
    }

    fn shown_inputs(&self) -> Vec<String> {
        let open = self.session.open_inputs();
        let show = |(id, input): (InputId, &vouch_host::ir::Input)| {
            let name = self.session.names.input(id);
            match self.session.given().get(&id) {
                Some(word) => format!("{name} = {}", value::show(&input.ty, input.width, *word)),
                None if open.contains(&id) => format!("{name} any"),
                None => format!("{name} not read here"),
            }
        };
        (0..).map(InputId).zip(&self.session.moves.cfa.inputs).map(show).collect()
    }

    fn shown_variables(&self) -> Vec<String> {
        let ids = (0..self.session.moves.cfa.vars.len() as u32).map(VarId);
        let show = |id: VarId| {
            let mark = if self.session.watches.contains(&id) { "● " } else { "" };
            format!("{mark}{} = {}", self.session.names.var(id), self.session.value(id))
        };
        ids.map(show).collect()
    }

    fn shown_properties(&self) -> Vec<Line<'static>> {
        let broken = self.session.broken();
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let show = |number: usize| {
            let id = PropertyId(number as u32);
            let name = self.session.names.property(id);
            match broken.iter().find(|b| b.0 == id) {
                None => Line::raw(format!("✓ {name}")),
                Some((_, true)) => Line::styled(format!("✗ {name} is broken"), bold),
                Some((_, false)) => Line::raw(format!("! {name} can break")),
            }
        };
        (0..self.session.moves.cfa.properties.len()).map(show).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use vouch_host::frontend::{self, Language, Options, Source};

    const LAMP: &str = "enum Key { None, On, Off }
input key: Key;
input dark: bool;
machine lamp {
    param limit: u3 in 2..=4;
    var timer: u3 = 0;
    initial state Off {
        on key == Key::On && dark -> On { timer = 0; }
    }
    state On {
        on key == Key::Off -> Off;
        on timer == limit -> Off;
        else { timer += 1; }
    }
    property short: always timer < 2;
}
";

    struct Nowhere;
    impl Files for Nowhere {
        fn load(&mut self, _: &mut Session<'_>, path: &str) -> Result<(), String> {
            Err(format!("cannot read {path}"))
        }
        fn save(&mut self, _: &Session<'_>, _: &str) -> Result<(), String> {
            Ok(())
        }
    }

    fn shown(screen: &Screen<'_, '_>) -> String {
        let mut terminal = Terminal::new(TestBackend::new(100, 24)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    fn press(screen: &mut Screen<'_, '_>, keys: &[KeyCode]) {
        keys.iter().for_each(|key| assert!(!screen.key(KeyEvent::from(*key))));
    }

    #[test]
    fn a_walk_by_keys() {
        let source = Source { path: "lamp.vch".into(), text: LAMP.into() };
        let moves =
            frontend::machines(&source, Language::Vch, &Options::default()).unwrap().unwrap();
        let mut session = Session::new(&moves, &[]);
        let mut files = Nowhere;
        let mut screen = Screen::new(&mut session, &mut files);
        // The start, an input, and the light is on.
        press(&mut screen, &[KeyCode::Enter, KeyCode::Tab, KeyCode::Down, KeyCode::Char(' ')]);
        press(&mut screen, &[KeyCode::Tab, KeyCode::Tab]);
        let text = shown(&screen);
        assert!(text.contains("lamp: Off after 1 steps"), "{text}");
        assert!(text.contains("dark = true") && text.contains("Off -> On on key"), "{text}");
        press(&mut screen, &[KeyCode::Enter]);
        let otherwise = screen.choices.iter().position(|c| c.name.contains("otherwise")).unwrap();
        screen.selected[0] = otherwise;
        press(&mut screen, &[KeyCode::Enter]);
        assert!(!shown(&screen).contains("is broken"));
        screen.selected[0] =
            screen.choices.iter().position(|c| c.name.contains("otherwise")).unwrap();
        press(&mut screen, &[KeyCode::Enter]);
        insta::assert_snapshot!(shown(&screen));
        press(&mut screen, &[KeyCode::Left, KeyCode::Left]);
        assert!(shown(&screen).contains("On after 2 steps (+2)"));
        press(&mut screen, &[KeyCode::Right]);
        assert!(shown(&screen).contains("On after 3 steps (+1)"));
        // A value that is not one, and a file that is not there.
        press(
            &mut screen,
            &[KeyCode::Tab, KeyCode::Up, KeyCode::Enter, KeyCode::Char('Z'), KeyCode::Enter],
        );
        assert!(shown(&screen).contains("key cannot be `Z`"), "{}", shown(&screen));
        press(&mut screen, &[KeyCode::Char('l'), KeyCode::Char('f'), KeyCode::Enter]);
        assert!(shown(&screen).contains("cannot read f"));
        assert!(screen.key(KeyEvent::from(KeyCode::Char('q'))));
    }
}
