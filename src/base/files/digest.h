// A digest of bytes, by xxHash (128 bits): says whether two inputs are the same, not who wrote them.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace dlasim {

class Digest {
public:
    Digest();
    ~Digest();
    Digest(const Digest&) = delete;
    Digest& operator=(const Digest&) = delete;

    /// Bytes, and where they end: "ab" and "c" are not "a" and "bc".
    void add(std::string_view bytes);
    /// What a file has, block by block: a tensor need not be held.
    void add_file(const std::filesystem::path& file);
    /// 32 hexadecimal digits.
    std::string text() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace dlasim
