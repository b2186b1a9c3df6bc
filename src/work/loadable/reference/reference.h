// The golden operations beside a loadable that runs: every chain that completes is judged by what its memory held before it.
//
//   shadow memory ──► golden operation of each unit ────────► what must be there
//                                                                  │ compared, element by element
//   machine ──────────────────────────────────────────► what is there ──► shadow memory
//
// Source  golden/, loadable.md.
// Error   integers and fp16 bit for bit; what no golden operation describes says why it was not compared.
#pragma once
#include "golden/compare.h"
#include "loadable/reference/layers.h"

namespace dlasim::loadable {

/// Of the operation at the end of a chain: what it has written.
struct Verdict {
    std::string unchecked;  // why nothing was compared; empty: it was
    bool breaks_rule = false;
    Comparison comparison;
};

class Reference {
public:
    /// Memory as before the run. `plan` must outlive it.
    explicit Reference(const LoadablePlan& plan);

    /// A task of the host, on the memory as it must be.
    void host(std::size_t number);
    /// All of the chain has completed: what it has written against what it must have. Its memory is taken over.
    void chain(std::size_t number, const ReadLine& read);

    /// By chain of the plan; those that did not complete have none.
    const std::vector<std::optional<Verdict>>& verdicts() const { return verdicts_; }

private:
    const LoadablePlan& plan_;
    Shadow shadow_;
    Before before_;
    std::string broken_;  // the report on chains after one that breaks a rule
    std::vector<std::optional<Verdict>> verdicts_;
};

}  // namespace dlasim::loadable
