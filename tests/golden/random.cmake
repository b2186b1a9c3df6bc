# Laws on random programs: a few seeds in every run of the tests, hundreds under the label long.

# The test SUITE.ARGUMENTS of a label: a command that gets these arguments. LABEL/SECONDS: it may take so long, not 3000 seconds.
function(dlasim_random suite label_and_limit)
    cmake_parse_arguments(RANDOM "" "" "ARGUMENTS;COMMAND" ${ARGN})
    string(REPLACE " " ";" arguments "${RANDOM_ARGUMENTS}")
    list(JOIN arguments "_" name)
    string(REPLACE "--" "" name ${name})
    string(REPLACE "/" ";" label "${label_and_limit}/3000")
    list(GET label 1 limit)
    list(GET label 0 label)
    add_test(NAME ${suite}.${name} COMMAND ${RANDOM_COMMAND} ${arguments})
    set_tests_properties(${suite}.${name} PROPERTIES LABELS ${label} TIMEOUT ${limit})
endfunction()

function(dlasim_random_law suite law label)
    foreach(arguments ${ARGN})
        dlasim_random(${suite} ${label} ARGUMENTS ${arguments} COMMAND random_laws ${law})
    endforeach()
endfunction()

dlasim_random_law(RandomLayers layers golden "direct 1 50" "direct 51 50")
dlasim_random_law(RandomLayers layers long "direct 1001 500" "direct 1501 500" "auto 2001 300")
foreach(kind groups batch compressed image winograd deconvolution machines wide post sdp convert cvsram partial reuse strips auto
        pool pool_int16 pool_fp16 pooled)
    dlasim_random_law(RandomLayers layers golden "${kind} 1 20")
    dlasim_random_law(RandomLayers layers long "${kind} 1001 200")
endforeach()
# Skipping and stepping agree on whole layers.
foreach(kind direct image winograd deconvolution batch post sdp partial reuse strips auto pool pool_fp16 pooled)
    dlasim_random_law(RandomLayers layers golden "${kind} 5001 10 stepping")
    dlasim_random_law(RandomLayers layers long "${kind} 6001 100 stepping")
endforeach()
# Causes are the same whenever notes are compacted.
foreach(kind direct image winograd batch post sdp reuse pool pooled)
    dlasim_random_law(RandomLayers layers golden "${kind} 7001 3 causes")
    dlasim_random_law(RandomLayers layers long "${kind} 8001 100 causes")
endforeach()

# Copies, reshapes, LRN layers; 7135 is one for which a DRAM keeps requests waiting while it answers others.
foreach(kind bdma rubik lrn_int8 lrn_int16 lrn_fp16)
    dlasim_random_law(RandomTransfers transfers golden "${kind} 1 20" "${kind} 7131 12 stepping")
    dlasim_random_law(RandomTransfers transfers long "${kind} 1001 200" "${kind} 6001 50 stepping")
endforeach()

# Values take no time.
dlasim_random_law(RandomValues values golden "layers 1 60" "networks 1 20")
dlasim_random_law(RandomValues values long/7000 "layers 1001 2000" "networks 1001 500")

# Several units at once, both register groups of CDP.
dlasim_random_law(RandomMixes mixes golden "1 20")
dlasim_random_law(RandomMixes mixes long "1001 200")

# Sequences through both register groups of every unit; 40122 hangs as the silicon does.
dlasim_random_law(RandomSequences sequences golden "1 20" "1043 3 causes")
dlasim_random_law(RandomSequences sequences long "1001 200" "3001 200 causes")
dlasim_random_law(RandomSequences sequences golden/600 "40122 1")

# Pooling on the fly and apart.
dlasim_random_law(RandomFused fused golden "1 20")
dlasim_random_law(RandomFused fused long "1001 200")

# Any layer on any machine and behind any DRAM is verified or refused with the rule.
dlasim_random_law(RandomPoints points golden "machines 1 40" "dram 1 20")
dlasim_random_law(RandomPoints points long/14000 "machines 1001 5000" "dram 1001 2000")

# The whole range that the reader takes, through planning only; 144773 is a batch with a large output.
dlasim_random_law(RandomPlans plans golden/600 "1 700" "144773 1")
dlasim_random_law(RandomPlans plans long/6000 "100001 50000")

# Plans against every partition of small layers.
set(python ${Python3_EXECUTABLE})
set(program $<TARGET_FILE:dlasim>)
set(here ${CMAKE_CURRENT_SOURCE_DIR})
dlasim_random(PlanSearch golden ARGUMENTS "1 2" COMMAND ${python} ${here}/plan_search.py ${program})
dlasim_random(PlanSearch long ARGUMENTS "1 30" COMMAND ${python} ${here}/plan_search.py ${program})
foreach(suite NetworkAbilities PooledParts)
    string(REGEX REPLACE "([a-z])([A-Z])" "\\1_\\2" script ${suite})
    string(TOLOWER ${script} script)
    dlasim_random(${suite} golden ARGUMENTS "1 20" COMMAND ${python} ${here}/${script}.py ${program})
    dlasim_random(${suite} long ARGUMENTS "1001 300" COMMAND ${python} ${here}/${script}.py ${program})
endforeach()

# Random layers against integers of NumPy.
foreach(kind image direct deconv pool sdp tenbits post winograd fp16 fp16post lrn rubik bdma)
    set(reference ${python} ${PROJECT_SOURCE_DIR}/scripts/random_reference.py --dlasim ${program} --jobs 1 --kind)
    dlasim_random(RandomReference golden/600 ARGUMENTS "${kind} --count 20" COMMAND ${reference})
    dlasim_random(RandomReference long/6000 ARGUMENTS "${kind} --first 100001 --count 2000" COMMAND ${reference})
endforeach()

# The errors of named tables and of LRN as scripts/figures/EXPERIMENTS.md has them, against doubles of NumPy.
add_test(NAME Tables.Errors COMMAND ${python} ${PROJECT_SOURCE_DIR}/scripts/table_errors.py --dlasim ${program})
set_tests_properties(Tables.Errors PROPERTIES LABELS golden TIMEOUT 600)
