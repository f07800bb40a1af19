//! Tests.
#[test]
fn precharge() {
    let text = include_str!("../../../../../examples/precharge.vch");
    let source =
        crate::frontend::Source { path: "examples/precharge.vch".into(), text: text.into() };
    match super::compile(text, &Default::default()) {
        Ok(c) => {
            println!("{}", crate::frontend::render(&source, &c.warnings));
            println!(
                "{:#?}",
                (
                    c.cfa.vars.len(),
                    c.cfa.inputs.len(),
                    c.cfa.edges.len(),
                    &c.cfa.locations,
                    &c.cfa.properties
                )
            );
        }
        Err(e) => panic!("{}", crate::frontend::render(&source, &e)),
    }
}
