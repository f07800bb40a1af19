//! Which variable to decide next: the one that was most in conflicts lately (VSIDS).

use crate::Var;

/// What a conflict is worth grows by this factor from one to the next.
const GROWTH: f64 = 1.0 / 0.95;
/// All is made smaller before numbers are as large.
const LARGEST: f64 = 1e100;

/// A heap of variables, the most active one first.
#[derive(Default)]
pub struct Order {
    heap: Vec<Var>,
    /// By variable, where it is in the heap.
    at: Vec<Option<u32>>,
    activity: Vec<f64>,
    worth: f64,
}

impl Order {
    /// A new variable, the next one.
    pub fn add(&mut self) {
        let var = Var(self.at.len() as u32);
        self.worth = self.worth.max(1.0);
        self.activity.push(0.0);
        self.at.push(None);
        self.insert(var);
    }

    /// Puts a variable back.
    pub fn insert(&mut self, var: Var) {
        if self.at[var.index()].is_none() {
            self.at[var.index()] = Some(self.heap.len() as u32);
            self.heap.push(var);
            self.up(self.heap.len() - 1);
        }
    }

    /// Takes the most active one out.
    pub fn pop(&mut self) -> Option<Var> {
        let first = *self.heap.first()?;
        self.at[first.index()] = None;
        let last = self.heap.pop()?;
        if last != first {
            self.place(last, 0);
            self.down(0);
        }
        Some(first)
    }

    /// A variable was in a conflict.
    pub fn bump(&mut self, var: Var) {
        self.activity[var.index()] += self.worth;
        if self.activity[var.index()] > LARGEST {
            self.activity.iter_mut().for_each(|activity| *activity /= LARGEST);
            self.worth /= LARGEST;
        }
        if let Some(at) = self.at[var.index()] {
            self.up(at as usize);
        }
    }

    /// After a conflict.
    pub fn decay(&mut self) {
        self.worth *= GROWTH;
    }

    fn place(&mut self, var: Var, at: usize) {
        self.heap[at] = var;
        self.at[var.index()] = Some(at as u32);
    }

    fn is_before(&self, a: Var, b: Var) -> bool {
        self.activity[a.index()] > self.activity[b.index()]
    }

    fn up(&mut self, mut at: usize) {
        let var = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.is_before(var, self.heap[parent]) {
                break;
            }
            self.place(self.heap[parent], at);
            at = parent;
        }
        self.place(var, at);
    }

    fn down(&mut self, mut at: usize) {
        let var = self.heap[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.is_before(self.heap[child + 1], self.heap[child])
            {
                child += 1;
            }
            if !self.is_before(self.heap[child], var) {
                break;
            }
            self.place(self.heap[child], at);
            at = child;
        }
        self.place(var, at);
    }
}
