# What was published about the machine, measured on the simulated one: scripts/figures/EXPERIMENTS.md. A missed figure fails.
if(TARGET dlasim)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    function(dlasim_experiment label)
        list(JOIN ARGN "_" name)
        add_test(NAME Experiments.${name} COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/experiments.py
                                                  --dlasim $<TARGET_FILE:dlasim> --jobs 1 ${ARGN})
        set_tests_properties(Experiments.${name} PROPERTIES LABELS ${label} TIMEOUT 1200)
    endfunction()
    dlasim_experiment(golden P4)
    dlasim_experiment(golden B1 B2)
    dlasim_experiment(golden Y3)
    dlasim_experiment(golden H1 H2)
    dlasim_experiment(golden V1 V2)
    dlasim_experiment(golden N4 N8 N9)
    dlasim_experiment(golden N2 N5 N7 N10)
    dlasim_experiment(long all)
    # Every cycle of three whole layers has a cause: scripts/figures/EXPERIMENTS.md. A rest fails.
    add_test(NAME Account.ThreeLayers COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/account.py --dlasim $<TARGET_FILE:dlasim>
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(Account.ThreeLayers PROPERTIES LABELS golden TIMEOUT 600)
endif()
