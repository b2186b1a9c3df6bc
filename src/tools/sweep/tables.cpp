#include "sweep/tables.h"

#include <algorithm>

#include "config/sweep/sweep.h"

namespace dlasim {

std::vector<std::string> columns_of(SweepStore& store)
{
    std::vector<std::string> columns;
    store.each([&](const KeptPoint& kept) {
        // A new column goes after the one that it follows in this row.
        std::size_t behind = 0;
        for (const auto& [name, value] : kept.row.items()) {
            const auto there = std::find(columns.begin(), columns.end(), name);
            if (there != columns.end()) {
                behind = static_cast<std::size_t>(there - columns.begin()) + 1;
                continue;
            }
            columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(behind), name);
            ++behind;
        }
    });
    return columns;
}

CsvTable::CsvTable(const std::vector<std::string>& columns, OutputFile& file) : columns_(columns), file_(file)
{
    std::string line;
    for (const std::string& column : columns_) line.append(line.empty() ? "" : ",").append(cell_text(column));
    file_.write(line + '\n');
}

void CsvTable::row(const KeptPoint& kept)
{
    std::string line;
    for (const std::string& column : columns_) {
        if (&column != &columns_.front()) line += ',';
        if (kept.row.contains(column) && !kept.row[column].is_null()) line += cell_text(Json(kept.row[column]));
    }
    file_.write(line + '\n');
}

void JsonTable::row(const KeptPoint& kept)
{
    file_.write(first_ ? "\n  " : ",\n  ");
    first_ = false;
    std::string text;
    for (const char c : kept.row.dump(2, ' ', false, OrderedJson::error_handler_t::replace))
        text.append(1, c).append(c == '\n' ? "  " : "");
    file_.write(text);
}

}  // namespace dlasim
