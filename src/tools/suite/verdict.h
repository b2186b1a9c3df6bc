// What came of a case, and the file that CI systems read.
//
//   CaseRun ──► verdict_of ──► Verdict ──► the line on the terminal, junit_xml
#pragma once
#include <string>
#include <vector>

#include "suite/suite.h"

namespace dlasim {

/// How a case ended.
struct CaseRun {
    int status = 0;                       // of its process
    std::optional<std::uint64_t> cycles;  // none: it has no result
    std::optional<double> accuracy;       // of a model with labels
    std::string said;                     // on standard error
    double seconds = 0;                   // on the clock on the wall
};

struct Verdict {
    enum class Kind { Passed, Failed, Error };  // Error: it was killed or rejected
    Kind kind = Kind::Passed;
    std::string why;                // in a line; of one that passed: what was not compared
    const char* type = "NoResult";  // of a failure or an error: Values, Accuracy, Cycles
};

/// Values and cycles are what they must be.
Verdict verdict_of(const SuiteCase& one, const CaseRun& run);

/// "conv1    63,011 cycles (golden 63,011)    1.2 s".
std::string verdict_line(const SuiteCase& one, const CaseRun& run, const Verdict& verdict);

/// A testsuite of JUnit's XML, a testcase for each case: failure where values or cycles differ, error where it did not run to its end.
std::string junit_xml(const Suite& suite, const std::vector<CaseRun>& runs, const std::vector<Verdict>& verdicts, double seconds);

}  // namespace dlasim
