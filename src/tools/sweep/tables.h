// points.csv and points.json: a row a point, of what the store has kept.
#pragma once
#include "base/files/output.h"
#include "sweep/store.h"

namespace dlasim {

/// The columns of all rows, in the order in which rows have them.
std::vector<std::string> columns_of(SweepStore& store);

class CsvTable {
public:
    CsvTable(const std::vector<std::string>& columns, OutputFile& file);
    void row(const KeptPoint& kept);

private:
    const std::vector<std::string>& columns_;
    OutputFile& file_;
};

class JsonTable {
public:
    explicit JsonTable(OutputFile& file) : file_(file) { file_.write("["); }
    void row(const KeptPoint& kept);
    void end() { file_.write("\n]\n"); }

private:
    OutputFile& file_;
    bool first_ = true;
};

}  // namespace dlasim
