# Writes OUT: the texts of FILES (paths relative to DIR, separated by commas) as a C++ source that defines FUNCTION of HEADER
# in NAMESPACE. A name is the path without ".json".
string(REPLACE "," ";" FILES "${FILES}")
set(body "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\nconst std::vector<EmbeddedFile>& ${FUNCTION}()\n{\n    static const std::vector<EmbeddedFile> files{\n")
foreach(file ${FILES})
    file(READ ${DIR}/${file} text)
    string(REGEX REPLACE "\\.json$" "" name "${file}")
    string(APPEND body "        {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
string(APPEND body "    };\n    return files;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUT} "${body}")
