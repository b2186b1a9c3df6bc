// An object of a DRAM file that must be read completely: what nobody asked for is an error. Types and ranges are those of the declared
// keys (keys.h).
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dram/read/keys.h"

namespace dlasim::dram {

using Json = nlohmann::json;

class Object {
public:
    /// `path`: of the object in the declared keys, with a trailing slash.
    Object(const Json& json, std::string where, std::string path);

    bool has(const std::string& key);
    const Json& raw(const std::string& key);
    std::string at(const std::string& key) const { return where_ + "/" + key; }
    Object object(const std::string& key) { return {raw(key), at(key), path_ + key + "/"}; }

    std::string text(const std::string& key);
    std::int64_t integer(const std::string& key);
    std::uint32_t power_of_two(const std::string& key);
    double number(const std::string& key);
    bool truth(const std::string& key);
    template <class T>
    T one_of(const std::string& key, const std::vector<std::pair<std::string, T>>& names)
    {
        std::vector<std::string> words;
        words.reserve(names.size());
        for (const auto& [name, value] : names) words.push_back(name);
        return names[word(key, words)].second;
    }
    /// Refuses keys that nobody asked for.
    void done() const;
    const Json& json() const { return *json_; }

private:
    const ConfigKey& declared(const std::string& key) const;
    /// The place of the text in `words`.
    std::size_t word(const std::string& key, const std::vector<std::string>& words);

    const Json* json_;
    std::string where_, path_;
    std::set<std::string> known_;
};

}  // namespace dlasim::dram
